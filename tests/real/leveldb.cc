// SPDX-License-Identifier: GPL-3.0-or-later
//
// Twenty thousand puts into LevelDB, with a write buffer small enough that tables are written and
// compacted all the time, some deletions, and one reopening in the middle.
//
//     leveldb DIR [PUTS]

#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace
{

constexpr int default_puts = 20000;
constexpr int keys = 6000;     // fewer than the puts: compaction has old versions to drop
constexpr int value_base = 40; // bytes
constexpr int value_spread = 120;
constexpr int delete_every = 17;
constexpr int sync_every = 2500;
constexpr size_t buffer = 128 << 10; // the default of 4 MiB would never be full

uint64_t seed = 0x9e3779b97f4a7c15;

unsigned below(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return static_cast<unsigned>(seed % n);
}

void must(const leveldb::Status &status)
{
    if (!status.ok()) {
        std::fprintf(stderr, "leveldb: %s\n", status.ToString().c_str());
        std::exit(1);
    }
}

std::unique_ptr<leveldb::DB> open(const std::string &dir)
{
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = buffer;
    options.max_file_size = 1 << 20;
    leveldb::DB *db = nullptr;
    must(leveldb::DB::Open(options, dir, &db));
    return std::unique_ptr<leveldb::DB>(db);
}

void put(leveldb::DB *db, int i)
{
    leveldb::WriteOptions options;
    options.sync = i % sync_every == 0;
    std::string key = "key" + std::to_string(below(keys));
    std::string value;
    for (unsigned left = value_base + below(value_spread); left > 0; left--)
        value.push_back(static_cast<char>(' ' + below(95)));
    must(db->Put(options, key, value));
    if (i % delete_every == 0)
        must(db->Delete(options, "key" + std::to_string(below(keys))));
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: leveldb DIR [PUTS]\n");
        return 2;
    }
    int puts = argc > 2 ? std::atoi(argv[2]) : default_puts;
    std::string dir = std::string(argv[1]) + "/db";
    std::unique_ptr<leveldb::DB> db = open(dir);
    for (int i = 0; i < puts / 2; i++)
        put(db.get(), i);
    db.reset();
    db = open(dir);
    for (int i = puts / 2; i < puts; i++)
        put(db.get(), i);
    db->CompactRange(nullptr, nullptr);
    std::printf("%d puts\n", puts);
    return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
//
// Five thousand puts into RocksDB, with flushes and a compaction done by its background threads.
//
//     rocksdb DIR [PUTS]

#include <rocksdb/db.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace
{

constexpr int default_puts = 5000;
constexpr int keys = 2000;
constexpr int value_base = 60;
constexpr int value_spread = 200;
constexpr int flush_every = 1200;
constexpr int sync_every = 1000;
constexpr int delete_every = 13;

uint64_t seed = 0x2545f4914f6cdd1d;

unsigned below(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return static_cast<unsigned>(seed % n);
}

void must(const rocksdb::Status &status)
{
    if (!status.ok()) {
        std::fprintf(stderr, "rocksdb: %s\n", status.ToString().c_str());
        std::exit(1);
    }
}

void put(rocksdb::DB *db, int i)
{
    rocksdb::WriteOptions options;
    options.sync = i % sync_every == 0;
    std::string value(value_base + below(value_spread), static_cast<char>('a' + below(26)));
    must(db->Put(options, "key" + std::to_string(below(keys)), value));
    if (i % delete_every == 0)
        must(db->Delete(options, "key" + std::to_string(below(keys))));
    if (i % flush_every == flush_every - 1)
        must(db->Flush(rocksdb::FlushOptions()));
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: rocksdb DIR [PUTS]\n");
        return 2;
    }
    int puts = argc > 2 ? std::atoi(argv[2]) : default_puts;
    rocksdb::Options options;
    options.create_if_missing = true;
    options.level0_file_num_compaction_trigger = 2;
    rocksdb::DB *raw = nullptr;
    must(rocksdb::DB::Open(options, std::string(argv[1]) + "/db", &raw));
    std::unique_ptr<rocksdb::DB> db(raw);
    for (int i = 0; i < puts; i++)
        put(db.get(), i);
    must(db->Flush(rocksdb::FlushOptions()));
    must(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
    must(db->Close());
    std::printf("%d puts\n", puts);
    return 0;
}

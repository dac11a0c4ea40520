// SPDX-License-Identifier: GPL-3.0-or-later
//
// A new LevelDB database and six puts, of which those of even keys are synced, as a program to
// record and as the checker of its crash states.
//
//     leveldb_six put DIR        prints "synced KEY" when that put and all before it are durable
//     leveldb_six check DIR      opens the database; the puts of the file FLOTSAM_STDOUT must be
//                                there: exit 0; 1 if not, 99 if it cannot be opened

#include <leveldb/db.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

namespace
{

constexpr int first_key = 4;
constexpr int last_key = 9;
constexpr int recovery_failed = 99;
constexpr size_t value_size = 100;

std::string key(int i)
{
    return "key" + std::to_string(i);
}

std::string value(int i)
{
    return std::string(value_size, static_cast<char>('0' + i));
}

leveldb::Status open(const std::string &dir, std::unique_ptr<leveldb::DB> *db)
{
    leveldb::Options options;
    leveldb::DB *opened = nullptr;
    options.create_if_missing = true;
    leveldb::Status status = leveldb::DB::Open(options, dir, &opened);
    db->reset(opened);
    return status;
}

int fail(int status, const std::string &what)
{
    std::fprintf(stderr, "leveldb_six: %s\n", what.c_str());
    return status;
}

int put(leveldb::DB *db)
{
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    for (int i = first_key; i <= last_key; i++) {
        leveldb::WriteOptions options;
        options.sync = i % 2 == 0;
        leveldb::Status status = db->Put(options, key(i), value(i));
        if (!status.ok())
            return fail(1, status.ToString());
        if (options.sync)
            std::printf("synced %d\n", i);
    }
    return 0;
}

// The last key that had been told to be durable; one below the first when none had.
int promised()
{
    const char *file = std::getenv("FLOTSAM_STDOUT");
    std::ifstream in(file ? file : "/dev/null");
    std::string word;
    int i, last = first_key - 1;
    while (in >> word >> i)
        last = i;
    return last;
}

int check(leveldb::DB *db)
{
    int last = promised();
    for (int i = first_key; i <= last_key; i++) {
        std::string found;
        leveldb::Status status = db->Get(leveldb::ReadOptions(), key(i), &found);
        if (status.IsNotFound() && i > last)
            continue;
        if (!status.ok() || found != value(i))
            return fail(1, key(i) + " is wrong: " + status.ToString());
    }
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3 || (std::strcmp(argv[1], "put") != 0 && std::strcmp(argv[1], "check") != 0))
        return fail(2, "usage: leveldb_six put|check DIR");
    bool puts = std::strcmp(argv[1], "put") == 0;
    std::unique_ptr<leveldb::DB> db;
    leveldb::Status status = open(argv[2], &db);
    if (!status.ok())
        return fail(recovery_failed, status.ToString());
    return puts ? put(db.get()) : check(db.get());
}

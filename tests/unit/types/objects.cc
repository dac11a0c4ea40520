/* SPDX-License-Identifier: GPL-3.0-or-later */
// Classes: bases, members, templates, references, namespaces.
#include "truth.h"

#include <utility>

// As the compilers spell it, with _ for each space.
#ifdef __clang__
#define SLOT "store::Slot<unsigned_long,_double>"
#else
#define SLOT "store::Slot<long_unsigned_int,_double>"
#endif

namespace store {

struct Base {
    uint64_t version;
    uint32_t checksum;
};

template <class K, class V> struct Slot {
    K key;
    V value;
    bool used;

    void set(const K &k, const V &v)
    {
        key = k;
        value = v;
        used = true;
    }
};

typedef Slot<uint64_t, double> WideSlot;

class Table : public Base {
  public:
    __attribute__((noinline)) bool put(uint64_t k, double v);
    __attribute__((noinline)) void clear();
    __attribute__((noinline)) void grow(Table *other);
    static void describe();
    int used;
    WideSlot slots[8];
    Table *next;
    enum State { EMPTY, BUSY, FULL } state;
};

bool Table::put(uint64_t k, double v)
{
    for (auto &slot : slots) {
        if (slot.used)
            continue;
        slot.set(k, v);
        version++;
        checksum ^= static_cast<uint32_t>(k);
        state = ++used == 8 ? FULL : BUSY;
        return true;
    }
    return next && next->put(k, v);
}

void Table::clear()
{
    used = 0;
    state = EMPTY;
    for (int i = 0; i < 8; i++)
        slots[i].used = false;
}

void Table::grow(Table *other)
{
    other->clear();
    other->next = nullptr;
    other->version = version + 1;
    for (int i = 0; i < 4; i++) {
        std::swap(other->slots[i].value, slots[i].value);
        other->slots[i] = slots[i + 4];
    }
    next = other;
}

void Table::describe()
{
    truth_say("T store::Base %lx\nF store::Base version 0 8 8 -\nF store::Base checksum 8 4 4 -\n",
              (unsigned long)sizeof(Base));
    truth_say("T %s 18\nF %s key 0 8 8 -\nF %s value 8 8 8 -\nF %s used 10 1 1 -\n", SLOT, SLOT,
              SLOT, SLOT);
    truth_say("T store::Table %lx\nF store::Table + 0 c c store::Base\n",
              (unsigned long)sizeof(Table));
    truth_say("F store::Table used %lx 4 4 -\n", (unsigned long)offsetof(Table, used));
    truth_say("F store::Table slots %lx c0 18 %s\n", (unsigned long)offsetof(Table, slots), SLOT);
    truth_say("F store::Table next %lx 8 8 -\n", (unsigned long)offsetof(Table, next));
    truth_say("F store::Table state %lx 4 4 -\n", (unsigned long)offsetof(Table, state));
}

} // namespace store

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    truth_begin(argv[1]);
    store::Table::describe();
    store::Table *t = (store::Table *)truth_allocate("store::Table", sizeof *t);
    t->clear();
    for (uint64_t i = 0; i < 8; i++)
        t->put(i, (double)i / 2);
    t->grow((store::Table *)truth_allocate("store::Table", sizeof *t));
    for (uint64_t i = 0; i < 4; i++)
        t->put(i, 1.5);
    return 0;
}

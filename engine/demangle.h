/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * demangle: the names of C++ functions as people write them.
 */
#ifndef ENGINE_DEMANGLE_H
#define ENGINE_DEMANGLE_H

/* The name without return type and parameters: "leveldb::DBImpl::Write" for
 * _ZN7leveldb6DBImpl5WriteERKNS_12WriteOptionsEPNS_10WriteBatchE. A name that is not mangled is
 * copied. The caller frees. */
char *demangle(const char *symbol);

#endif

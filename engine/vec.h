/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * vec: a growable array. Declare `vec_of(struct op) ops;`, zero it, push, read ops.at[i] for
 * i < ops.n, free with vec_free. Pushing may move the elements.
 */
#ifndef ENGINE_VEC_H
#define ENGINE_VEC_H

#include <stddef.h>
#include <stdlib.h>

#include "engine/mem.h"

#define vec_of(type)                                                                               \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
    }

/* Makes room for one element more and yields a pointer to it, uninitialised. */
#define vec_add(v)                                                                                 \
    ((v)->n == (v)->cap                                                                            \
         ? ((v)->cap = (v)->cap ? (v)->cap * 2 : 8,                                                \
            (v)->at = xrealloc((v)->at, (v)->cap * sizeof *(v)->at), &(v)->at[(v)->n++])           \
         : &(v)->at[(v)->n++])

/* The value is made before the elements move, so it may be read off one of them. */
#define vec_push(v, ...)                                                                           \
    __extension__({                                                                                \
        __typeof__(*(v)->at) pushed_ = (__VA_ARGS__);                                              \
        *vec_add(v) = pushed_;                                                                     \
    })

#define vec_last(v) ((v)->at[(v)->n - 1])

#define vec_free(v) (free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

#endif

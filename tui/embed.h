/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * embed: a text file of the source tree inside the program. The assembler reads it, by its path
 * from the tree's top; the Makefile has to be told, since the compiler's lists of dependencies do
 * not know of it.
 *
 *     EMBED_TEXT(manual_text, "tui/flotsam.1.in")      const char manual_text[], ended by a NUL
 */
#ifndef TUI_EMBED_H
#define TUI_EMBED_H

#define EMBED_TEXT(symbol, path)                                                                   \
    extern const char symbol[];                                                                    \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl " #symbol "\n"                                                                 \
            ".hidden " #symbol "\n" #symbol ":\n"                                                  \
            ".incbin \"" path "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n");

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A seqlock with one writer (a thread, on its own shard's hot block) and any
 * number of readers in other processes.
 *
 *   writer                      reader
 *   sequence: even -> odd       s1 = sequence; odd: again
 *   plain stores                copy the words
 *   sequence: odd -> even       s2 = sequence; s1 != s2: again
 *
 * The writer's stores are relaxed atomics (plain moves on every CPU we know);
 * release before the second step and a release fence after the first give the
 * order.  Source: H. Boehm, "Can seqlocks get along with programming language
 * memory models?", MSPC 2012.
 */
#ifndef MEMTOP_SEQLOCK_H
#define MEMTOP_SEQLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ThreadSanitizer does not see what assembler writes.  gcc and clang announce it
   differently. */
#if defined __SANITIZE_THREAD__
#define THREAD_SANITIZER 1
#elif defined __has_feature
#define THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define THREAD_SANITIZER 0
#endif

/* Words in the segment are plain uint64_t so that layout.h stays readable;
   these are their relaxed accesses. */
static inline uint64_t
word_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void
word_store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* Adds to a word that only this thread writes. */
static inline void
word_add(uint64_t *word, uint64_t value)
{
#if defined __x86_64__ && !THREAD_SANITIZER
    /* gcc makes three instructions of a relaxed load and store.  A single one also cannot
       be interrupted in the middle by a signal handler. */
    __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(value) : "cc");
#else
    word_store(word, word_load(word) + value);
#endif
}

/* The same for a signed word; returns true if it is 0 or more afterwards. */
static inline bool
word_add_reaches_zero(int64_t *word, uint64_t value)
{
#if defined __x86_64__ && !THREAD_SANITIZER
    bool reached;

    __asm__ volatile("addq %2, %0" : "+m"(*word), "=@ccns"(reached) : "er"(value) : "cc");
    return reached;
#else
    int64_t sum = (int64_t)(word_load((uint64_t *)word) + value);

    word_store((uint64_t *)word, (uint64_t)sum);
    return sum >= 0;
#endif
}

/* Raises a signed word that only this thread and its signal handlers write. */
static inline void
word_raise(int64_t *word, int64_t value)
{
    int64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (seen < value
           && !__atomic_compare_exchange_n(word, &seen, value, true, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED))
        ;
}

/* Like word_add(), with release: a reader that loads the word with acquire sees what was
   written before.  A fence would do, but ThreadSanitizer does not support fences. */
static inline void
word_add_release(uint64_t *word, uint64_t value)
{
#if defined __x86_64__ && !THREAD_SANITIZER
    __asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(value) : "cc", "memory");
#else
    __atomic_store_n(word, word_load(word) + value, __ATOMIC_RELEASE);
#endif
}

static inline void
word_subtract(uint64_t *word, uint64_t value)
{
#if defined __x86_64__ && !THREAD_SANITIZER
    __asm__ volatile("subq %1, %0" : "+m"(*word) : "er"(value) : "cc");
#else
    word_store(word, word_load(word) - value);
#endif
}

/* Adds to a word that any thread may write. */
static inline void
word_add_shared(uint64_t *word, uint64_t value)
{
    __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

/* Raises a word that any thread may write. */
static inline void
word_max_shared(uint64_t *word, uint64_t value)
{
    uint64_t seen = word_load(word);

    while (seen < value
           && !__atomic_compare_exchange_n(word, &seen, value, true,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* True while an update is under way. */
static inline bool
seqlock_is_odd(const uint64_t *sequence)
{
    return word_load(sequence) & 1;
}

static inline void
seqlock_write_begin(uint64_t *sequence)
{
    word_add(sequence, 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void
seqlock_write_end(uint64_t *sequence)
{
    word_add_release(sequence, 1);
}

/*
 * Copies words 64-bit words, the first of which is the sequence.  Returns true if the
 * copy is consistent; false after tries attempts, with the last copy made.
 */
static inline bool
seqlock_read(const uint64_t *block, uint64_t *copy, size_t words, int tries)
{
    while (tries-- > 0) {
        uint64_t before = __atomic_load_n(&block[0], __ATOMIC_ACQUIRE);
        for (size_t i = 1; i < words; i++)
            copy[i] = word_load(&block[i]);
        copy[0] = before;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(before & 1) && word_load(&block[0]) == before)
            return true;
    }
    return false;
}

#endif

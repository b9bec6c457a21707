/* A counter that threads take pieces from. */
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

#define MOST_THREADS 64

struct job {
    tenon_piece_fn piece;
    void *user;
    size_t n;
    atomic_size_t next;
    atomic_uint next_worker;
    atomic_bool stopped;
    pthread_mutex_t lock; /* of what follows */
    size_t failed_piece;
    enum tenon_status status;
    struct tenon_error err;
};

unsigned tenon_threads(unsigned wanted)
{
    long processors = 1;

    if (wanted == 0) {
        processors = sysconf(_SC_NPROCESSORS_ONLN);
        wanted = processors > 0 && processors < MOST_THREADS ? (unsigned)processors : 1;
    }
    return wanted < MOST_THREADS ? wanted : MOST_THREADS;
}

static void record_failure(struct job *job, size_t i, enum tenon_status st,
                           const struct tenon_error *err)
{
    atomic_store(&job->stopped, true);
    pthread_mutex_lock(&job->lock);
    if (job->status == TENON_OK || i < job->failed_piece) {
        job->status = st;
        job->failed_piece = i;
        job->err = *err;
    }
    pthread_mutex_unlock(&job->lock);
}

static void *work(void *user)
{
    struct job *job = user;
    unsigned worker = atomic_fetch_add(&job->next_worker, 1);

    while (!atomic_load(&job->stopped)) {
        size_t i = atomic_fetch_add(&job->next, 1);
        struct tenon_error err = {0};
        enum tenon_status st;

        if (i >= job->n)
            break;
        st = job->piece(job->user, i, worker, &err);
        if (st != TENON_OK)
            record_failure(job, i, st, &err);
    }
    return NULL;
}

enum tenon_status tenon_parallel(unsigned threads, size_t n, tenon_piece_fn piece, void *user,
                                 struct tenon_error *err)
{
    struct job job = {.piece = piece, .user = user, .n = n};
    pthread_t ids[MOST_THREADS];
    unsigned started = 0;

    if (threads > n)
        threads = (unsigned)n;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    if (pthread_mutex_init(&job.lock, NULL) != 0)
        return tenon_fail_memory(err);
    while (started + 1 < threads && pthread_create(&ids[started], NULL, work, &job) == 0)
        started++;
    work(&job);
    for (unsigned i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    pthread_mutex_destroy(&job.lock);
    if (job.status != TENON_OK && err != NULL && err->status == TENON_OK)
        *err = job.err;
    return job.status;
}

/* SPDX-License-Identifier: MIT */
#include "helpers.h"

void helpers_open(struct helpers *helpers)
{
    *helpers = (struct helpers){.idle = NULL};
    pthread_mutex_init(&helpers->lock, NULL);
}

void helpers_close(struct helpers *helpers)
{
    pthread_mutex_destroy(&helpers->lock);
}

void helper_open(struct helper *helper)
{
    *helper = (struct helper){.idle = false};
    pthread_cond_init(&helper->wake, NULL);
}

void helper_close(struct helper *helper)
{
    pthread_cond_destroy(&helper->wake);
}

uint64_t helpers_news(struct helpers *helpers)
{
    pthread_mutex_lock(&helpers->lock);
    uint64_t ticket = helpers->news;
    pthread_mutex_unlock(&helpers->lock);
    return ticket;
}

/* Under the lock. */
static void wake_one(struct helpers *helpers)
{
    struct helper *helper = helpers->idle;
    if (!helper)
        return;
    helpers->idle = helper->next_idle;
    helper->idle = false;
    pthread_cond_signal(&helper->wake);
}

void helpers_tell(struct helpers *helpers)
{
    pthread_mutex_lock(&helpers->lock);
    helpers->news++;
    while (helpers->idle)
        wake_one(helpers);
    pthread_mutex_unlock(&helpers->lock);
}

/* Under the lock. */
static void sleep_idly(struct helpers *helpers, struct helper *helper)
{
    helper->idle = true;
    helper->next_idle = helpers->idle;
    helpers->idle = helper;
    while (helper->idle)
        pthread_cond_wait(&helper->wake, &helpers->lock);
}

/* Under the lock. */
static void set_helps(struct helpers *helpers, struct helper *helper, bool helps)
{
    if (helps && !helper->helps)
        helpers->count++;
    if (!helps && helper->helps)
        helpers->count--;
    helper->helps = helps;
}

/* Under the lock. */
static struct chunk *take_given(struct helpers *helpers, struct helper *helper)
{
    struct chunk *given = helpers->given_count ? helpers->given[--helpers->given_count] : NULL;
    set_helps(helpers, helper, given != NULL);
    return given;
}

struct chunk *helpers_wait(struct helpers *helpers, struct helper *helper, uint64_t ticket)
{
    pthread_mutex_lock(&helpers->lock);
    set_helps(helpers, helper, true);
    while (helpers->given_count == 0 && helpers->news == ticket)
        sleep_idly(helpers, helper);
    struct chunk *given = take_given(helpers, helper);
    pthread_mutex_unlock(&helpers->lock);
    return given;
}

struct chunk *helpers_take(struct helpers *helpers, struct helper *helper)
{
    pthread_mutex_lock(&helpers->lock);
    struct chunk *given = take_given(helpers, helper);
    pthread_mutex_unlock(&helpers->lock);
    return given;
}

bool helpers_pending(struct helpers *helpers)
{
    pthread_mutex_lock(&helpers->lock);
    bool pending = helpers->given_count > 0;
    pthread_mutex_unlock(&helpers->lock);
    return pending;
}

void helpers_leave(struct helpers *helpers, struct helper *helper)
{
    if (!helper->helps) /* written by this reader's thread alone */
        return;
    pthread_mutex_lock(&helpers->lock);
    set_helps(helpers, helper, false);
    pthread_mutex_unlock(&helpers->lock);
}

bool helpers_give(struct helpers *helpers, struct chunk *chunk)
{
    pthread_mutex_lock(&helpers->lock);
    bool given = helpers->count > 0 && helpers->given_count < SOURCE_GIVEN_MAX;
    if (given)
        helpers->given[helpers->given_count++] = chunk;
    if (given && helpers->given_count >= SOURCE_GIVEN_MAX / 2)
        wake_one(helpers);
    pthread_mutex_unlock(&helpers->lock);
    return given;
}

void helpers_hurry(struct helpers *helpers)
{
    pthread_mutex_lock(&helpers->lock);
    for (unsigned i = 0; i < helpers->given_count; i++)
        wake_one(helpers);
    pthread_mutex_unlock(&helpers->lock);
}

// Mutexes that a fork does not break.
//
// The child of a fork has one thread. If another thread held a lock at that moment, the lock would
// be held in the child for ever, and the data it guards would stay half changed. There are two
// kinds:
//
//   os_mutex_create         held for a few instructions or a file's reading. A fork waits until
//                           none is held (base/os/os_fork.h), so in the child all are free.
//                           While it is held, no function of the program is called, and no mutex
//                           of the other kind is taken.
//   os_mutex_create_long    held while a kernel runs or is compiled, and during callbacks into the
//                           program. A fork does not wait for it. In the child it is free; if
//                           another thread held it, os_mutex_abandoned says so until
//                           os_mutex_mark_consistent: the guarded data must not be trusted.
//
// If the forking thread itself holds a mutex, the child's thread holds it as well. Mutexes are not
// recursive. A fork that calls no pthread_atfork handlers is not handled.
// Ownership: the caller's, or its region of recovery's.
//
//     os_mutex_lock(stream->lock);
//     if (os_mutex_abandoned(stream->lock)) {
//         start_over(stream);
//         os_mutex_mark_consistent(stream->lock);
//     }
//     …
//     os_mutex_unlock(stream->lock);
#ifndef TILEC_BASE_OS_OS_MUTEX_H
#define TILEC_BASE_OS_OS_MUTEX_H

#include <stdbool.h>

typedef struct OsMutex OsMutex;
OsMutex *os_mutex_create(void);
OsMutex *os_mutex_create_long(void);
void os_mutex_destroy(OsMutex *mutex);  // takes NULL
void os_mutex_lock(OsMutex *mutex);
bool os_mutex_try(OsMutex *mutex);  // false: another thread holds it
void os_mutex_unlock(OsMutex *mutex);
// For the holder of the mutex, or the owner that destroys the data it guards.
bool os_mutex_abandoned(const OsMutex *mutex);
void os_mutex_mark_consistent(OsMutex *mutex);

#endif

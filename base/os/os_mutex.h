// Mutexes, and what a fork makes of them.
//
// The child of a fork has one thread. A lock that another thread held at that moment would be held
// in the child for ever, and what it guards would stay half changed. There are two kinds:
//
//   os_mutex_create         held for a few instructions or a file's reading. A fork waits until
//                           nobody holds one (base/os/os_fork.h), so in the child all are free.
//                           Within it no function of the program's is called, and no mutex of the
//                           other kind is taken.
//   os_mutex_create_long    held while a kernel runs or is compiled, and while the program is
//                           called back. A fork does not wait for it. In the child it is free; if
//                           another thread held it, os_mutex_abandoned says so until
//                           os_mutex_mended: what it guards is not to be trusted.
//
// A mutex that the forking thread itself holds stays its own in the child. Not recursive. Forks
// that call no handlers of pthread_atfork see to nothing. Ownership: the caller's, or its region
// of recovery's.
//
//     os_mutex_lock(stream->lock);
//     if (os_mutex_abandoned(stream->lock)) begin_anew(stream), os_mutex_mended(stream->lock);
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
void os_mutex_unlock(OsMutex *mutex);
// Asked by whoever holds it, or destroys what it guards.
bool os_mutex_abandoned(const OsMutex *mutex);
void os_mutex_mended(OsMutex *mutex);

#endif

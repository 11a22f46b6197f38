/* SPDX-License-Identifier: MIT */
/* The system calls that the sandbox refuses. Part of calls.c.
 *
 * From 424 on calls have the same numbers everywhere, and are listed by these, as the headers may
 * be older than the kernel. Those below that AArch64 does not have are in lists of their own. */
#ifndef GPUHISTO_CALLS_REFUSED_H
#define GPUHISTO_CALLS_REFUSED_H

#include <sys/syscall.h>

#define CALL_CLONE3 435
#define CALL_OPENAT2 437
#define CALLS_KNOWN 451 /* all from here on are unknown to the list */

/* Calls with which code gets out of the process, or does harm from within. */
static const short calls_refused[] = {
    /* Other programs. */
    SYS_execve,
    SYS_execveat,
    /* Sockets; what is open already is read and written as any file. */
    SYS_socket,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_sendmmsg,
    /* Other processes. */
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_kill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setparam,
    SYS_sched_setscheduler,
    SYS_sched_setattr,
    SYS_sched_setaffinity,
    SYS_migrate_pages,
    SYS_move_pages,
    SYS_setpgid,
    SYS_setsid,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_semget,
    SYS_semop,
    SYS_semctl,
    SYS_semtimedop,
    SYS_mq_open,
    SYS_mq_unlink,
#ifdef __GLIBC__
    SYS_tkill, /* which others raise signals with */
#endif
    /* Names and permissions, by a path; Landlock does not know of all. */
    SYS_mkdirat,
    SYS_mknodat,
    SYS_symlinkat,
    SYS_fchmodat,
    SYS_fchownat,
    SYS_utimensat,
    SYS_truncate,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_getdents64,
    SYS_inotify_init1,
    SYS_inotify_add_watch,
    SYS_fanotify_init,
    SYS_fanotify_mark,
    /* Identities, namespaces, mounts. */
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setgroups,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_capset,
    SYS_unshare,
    SYS_setns,
    SYS_chroot,
    SYS_pivot_root,
    SYS_mount,
    SYS_umount2,
    SYS_quotactl,
    SYS_swapon,
    SYS_swapoff,
    /* The machine. */
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_syslog,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_vhangup,
    SYS_personality,
    /* pidfd_send_signal, io_uring_setup, io_uring_enter, io_uring_register, open_tree, move_mount,
     * fsopen, fsconfig, fsmount, fspick, pidfd_open */
    424,
    425,
    426,
    427,
    428,
    429,
    430,
    431,
    432,
    433,
    434,
    /* pidfd_getfd, process_madvise, mount_setattr, quotactl_fd, process_mrelease */
    438,
    440,
    442,
    443,
    448,
#ifdef __x86_64__
    SYS_fork,
    SYS_vfork,
    SYS_mkdir,
    SYS_rmdir,
    SYS_mknod,
    SYS_symlink,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_creat,
    SYS_getdents,
    SYS_inotify_init,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
    SYS_kexec_file_load,
#endif
};

/* Calls that only an output FILE needs. */
static const short calls_of_output[] = {
    SYS_linkat, SYS_unlinkat,  SYS_renameat,     SYS_renameat2, SYS_fchmod,
    SYS_fchown, SYS_fsetxattr, SYS_fremovexattr, SYS_ftruncate,
#ifdef __x86_64__
    SYS_link,   SYS_unlink,    SYS_rename,
#endif
};

#endif

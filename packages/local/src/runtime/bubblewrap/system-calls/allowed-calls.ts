/**
 * The system calls that code in a sandbox may make with any arguments: those that ordinary programs need.
 *
 * The list has the calls that both Docker's default profile (`seccomp/default.json` of moby/profiles) and systemd's
 * `@system-service` allow. Of the calls that only Docker allows, it has those that programs try on newer kernels. It
 * leaves out calls with a history of vulnerabilities and few users, and calls that reveal activity of the host: `vmsplice`,
 * `memfd_secret`, `listmount`, `statmount`, `cachestat`, `fanotify_mark`. A name that an architecture does not have is skipped
 * there. `argument-rules.ts` has the calls that depend on their arguments.
 */
export const allowedCalls: readonly string[] = words(
  // Files and descriptors.
  `
  access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64
  fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fdatasync fgetxattr flistxattr flock fremovexattr
  fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr getxattrat
  inotify_add_watch inotify_init inotify_init1 inotify_rm_watch lchown lgetxattr link linkat listxattr listxattrat
  llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat mknod mknodat mq_unlink newfstatat open openat
  openat2 pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv
  removexattr removexattrat rename renameat renameat2 rmdir sendfile setxattr setxattrat splice stat statfs statx
  symlink symlinkat sync sync_file_range syncfs tee truncate umask unlink unlinkat utime utimensat utimes write
  writev
`,
  // Memory.
  `
  brk madvise map_shadow_stack membarrier mincore mlock mlock2 mlockall mprotect mremap mseal msync munlock
  munlockall munmap pkey_alloc pkey_free pkey_mprotect process_mrelease remap_file_pages
`,
  // Communication between processes.
  `
  mq_getsetattr mq_notify mq_timedreceive mq_timedsend msgctl msgrcv msgsnd semctl semop semtimedop shmat shmctl
  shmdt
`,
  // Sockets.
  `
  accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg sendmsg
  sendto shutdown
`,
  // Waiting.
  `
  clock_nanosleep epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 futex
  futex_requeue futex_wait futex_waitv futex_wake get_robust_list io_cancel io_destroy io_getevents io_pgetevents
  io_setup io_submit nanosleep pause poll ppoll pselect6 select set_robust_list signalfd signalfd4 timerfd_create
  timerfd_gettime timerfd_settime
`,
  // Time.
  `
  adjtimex alarm clock_getres clock_gettime getitimer gettimeofday setitimer time timer_create timer_delete
  timer_getoverrun timer_gettime timer_settime times
`,
  // Processes, their users and their signals.
  `
  arch_prctl capget capset execve execveat exit exit_group fork getegid geteuid getgid getgroups getpgid getpid
  getppid getpriority getresgid getresuid getrlimit getrusage getsid gettid getuid kill pidfd_open
  pidfd_send_signal rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
  rt_sigtimedwait rt_tgsigqueueinfo setfsgid setfsuid setgid setgroups setpgid setpriority setregid setresgid
  setresuid setreuid setsid setuid sigaltstack tgkill tkill vfork wait4 waitid
`,
  // Scheduling, and all other allowed calls.
  `
  get_thread_area getcpu getpgrp getrandom ioprio_get ioprio_set landlock_add_rule landlock_create_ruleset
  landlock_restrict_self restart_syscall rseq sched_get_priority_max sched_get_priority_min sched_getaffinity
  sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr
  sched_setparam sched_setscheduler sched_yield set_thread_area set_tid_address sysinfo uname uretprobe
`,
);

/**
 * Calls that allocate memory which belongs to no process. They are allowed only where a control group counts that
 * memory; without one, no limit would apply to it.
 */
export const ownerlessMemoryCalls: readonly string[] = words("mq_open msgget semget");

/**
 * Calls that are refused with EPERM, because programs understand EPERM as "not allowed here" and continue. Every other
 * call that is not allowed, including calls of later kernels, fails with ENOSYS ("no such call"). On ENOSYS programs
 * use an older call instead: for example `clone` instead of `clone3`, or `read` instead of `io_uring`.
 */
export const forbiddenCalls: readonly string[] = words(`
  acct add_key bpf chroot clock_adjtime clock_settime delete_module fanotify_init finit_module init_module ioperm iopl
  kcmp kexec_file_load kexec_load keyctl lookup_dcookie migrate_pages modify_ldt mount move_pages name_to_handle_at
  nfsservctl open_by_handle_at perf_event_open pidfd_getfd pivot_root process_madvise process_vm_readv process_vm_writev
  ptrace quotactl quotactl_fd reboot request_key setdomainname sethostname setns settimeofday swapoff swapon _sysctl
  sysfs syslog umount2 unshare uselib userfaultfd ustat vhangup
`);

function words(...lists: readonly string[]): string[] {
  return lists.flatMap((list) => list.trim().split(/\s+/));
}

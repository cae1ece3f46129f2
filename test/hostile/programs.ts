/** A Python program that lists the processes of agents. The programs in this file are run in a sandbox by attempts. */
export const findAgents = `
import os
def is_supervisor(pid):
    with open(f"/proc/{pid}/cmdline") as command: return command.read().endswith("/supervisor.cjs\\0")
def agents():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as command, open(f"/proc/{pid}/stat") as stat:
                parent = stat.read().rsplit(")")[1].split()[1]
                if command.read().endswith("/agent/main.cjs\\0") and (parent == "1" or is_supervisor(parent)):
                    found.append(int(pid))
        except OSError: pass
    return found
`;

/**
 * Sends agents SIGUSR1, on which Node.js opens its inspector. A signal that comes too early ends the agent, which is
 * then started again, so this is tried a few dozen times, at different moments of the start.
 */
export const raceToInspector = `
import signal, socket, time
seen, reached = {}, []
open("/workspace/racing", "w").close()
begun = time.monotonic()
def goes_on(passed): return passed < 6 or (len(seen) < 2 and passed < 60)
while goes_on(time.monotonic() - begun):
    now = time.monotonic()
    for pid in agents():
        began = seen.setdefault(pid, now)
        if len(seen) < 40 and now - began >= 0.003 * len(seen):
            try: os.kill(pid, signal.SIGUSR1)
            except OSError: pass
    for port in (9229, 9777):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
            reached.append(port)
        except OSError: pass
    time.sleep(0.002)
open("/workspace/race.new", "w").write(f"agents {len(seen)}, reached {reached}\\n")
os.rename("/workspace/race.new", "/workspace/race.txt")
`;

export const reachIntoMemory = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def refused(name, result): print(name, "refused" if result < 0 else "DONE")
def opened(path, flags):
    try:
        os.close(os.open(path, flags)); return 0
    except OSError: return -1
agent = os.getppid()
for pid in (1, agent):
    refused("attach", libc.ptrace(16, pid, 0, 0))
    refused("seize", libc.ptrace(0x4206, pid, 0, 0))
    for name in ("mem", "environ", "maps", "auxv", "syscall", "stack"): refused(name, opened(f"/proc/{pid}/{name}", os.O_RDONLY))
    for name in ("mem", "oom_score_adj", "coredump_filter", "clear_refs", "comm", "autogroup"): refused(name, opened(f"/proc/{pid}/{name}", os.O_WRONLY))
    for name in ("cwd", "root", "exe"): refused(name, opened(f"/proc/{pid}/{name}", os.O_RDONLY))
    try: os.listdir(f"/proc/{pid}/fd"); print("fd DONE")
    except OSError: print("fd refused")
    buffer = ctypes.create_string_buffer(8)
    class iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
    local = iovec(ctypes.addressof(buffer), 8)
    refused("process_vm_readv", libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(local), 1, 0))
    refused("process_vm_writev", libc.process_vm_writev(pid, ctypes.byref(local), 1, ctypes.byref(local), 1, 0))
`;

/**
 * Looks for listening sockets that the code can reach: duplicates of the agent's, and those that its own processes
 * have.
 */
export const lookForSockets = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
duplicated = []
for pid in (1, os.getppid()):
    pidfd = libc.syscall(434, pid, 0)
    for number in range(64):
        if libc.syscall(438, pidfd, number, 0) >= 0: duplicated.append((pid, number))
        try: os.close(os.open(f"/proc/{pid}/fd/{number}", os.O_RDWR)); duplicated.append((pid, number))
        except OSError: pass
listening = set()
for line in open("/proc/net/unix").read().splitlines()[1:]:
    fields = line.split()
    if int(fields[3], 16) & 0x10000: listening.add(f"socket:[{fields[6]}]")
for name in ("tcp", "tcp6"):
    for line in open(f"/proc/net/{name}").read().splitlines()[1:]:
        if line.split()[3] == "0A": listening.add(f"socket:[{line.split()[9]}]")
held = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    try: held += [(pid, number) for number in os.listdir(f"/proc/{pid}/fd") if os.readlink(f"/proc/{pid}/fd/{number}") in listening]
    except OSError: pass
print(duplicated, held)
`;

/**
 * Lists processes with another uid than the code or with a capability, and counts the agents with a uid of their own.
 */
export const listIdentities = (codeIsRoot: boolean): string => `
strange, apart = [], 0
for pid in filter(str.isdigit, os.listdir("/proc")):
    try: status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status").read().splitlines())
    except OSError: continue
    caps = [status[name].strip("\\t0") for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")]
    own = status["Uid"].split() == ["${codeIsRoot ? 0 : 1000}"] * 4 ${codeIsRoot ? "" : "and not any(caps)"}
    if int(pid) in agents(): apart += not own
    elif pid != "1" and not own: strange.append((pid, status["Name"], status["Uid"], caps))
print(strange)
print("agents", [apart])
`;

export const takeUids = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, call, *given):
    try: call(*given); print(name, "DONE")
    except OSError: print(name, "refused")
for name in ("setuid", "setgid", "seteuid", "setegid"): attempt(name, getattr(os, name), 0)
attempt("setresuid", os.setresuid, 0, 0, 0)
attempt("setresgid", os.setresgid, 0, 0, 0)
attempt("setgroups", os.setgroups, [0])
def unshare():
    if libc.unshare(0x10000000) < 0: raise OSError()
attempt("unshare", unshare)
def clone():
    if libc.syscall(56, 0x10000011, 0, 0, 0, 0) < 0: raise OSError()
attempt("clone", clone)
def join():
    if libc.setns(os.open("/proc/1/ns/user", os.O_RDONLY), 0) < 0: raise OSError()
attempt("setns", join)
attempt("sysctl", lambda: os.close(os.open("/proc/sys/user/max_user_namespaces", os.O_WRONLY)))
`;

export const impostor = `
import http.server, os, socketserver
class Impostor(http.server.BaseHTTPRequestHandler):
    def answer(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'{"status":"healthy","agent":"IMPOSTOR","stdout":"IMPOSTOR"}')
    do_GET = do_POST = answer
socketserver.TCPServer(("0.0.0.0", 7777), Impostor).serve_forever()
`;

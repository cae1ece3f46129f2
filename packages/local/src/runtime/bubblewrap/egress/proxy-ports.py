# Makes the listening sockets of the egress proxy in programs' network namespaces and passes them to the
# control plane, which started this process and accepts the connections itself. A socket stays in the
# namespace it was made in, so no process has to run there. Both talk over a channel of Node.js
# (lib/internal/child_process.js): one JSON text per line, a socket attached to it. The channel does not
# exist in any sandbox.
import _socket as sockets
import array
import ctypes
import fcntl
import json
import os
import signal

CLONE_NEWUSER, CLONE_NEWNET, NS_GET_USERNS, IP_FREEBIND = 0x10000000, 0x40000000, 0xB701, 15
# Most bytes that the kernel holds for each direction of a connection, doubled by the kernel. Its default
# grows to megabytes, and a sandbox may have many connections.
BUFFER = 128 * 1024

libc = ctypes.CDLL(None, use_errno=True)
channel = sockets.socket(fileno=int(os.environ["NODE_CHANNEL_FD"]))
channel.setblocking(True)
own = os.open("/proc/self/ns/net", os.O_RDONLY)


class Gone(Exception):
    pass


def enter(namespace, kind):
    if libc.setns(namespace, kind) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def open_namespace(request):
    try:
        namespace = os.open(f"/proc/{int(request['pid'])}/ns/net", os.O_RDONLY)
    except (FileNotFoundError, ProcessLookupError) as error:
        raise Gone from error
    if os.fstat(namespace).st_ino != request["network"]:
        # The program has ended, and another process has its pid now.
        os.close(namespace)
        raise Gone
    return namespace


def answer(message, *descriptors):
    ancillary = (
        [(sockets.SOL_SOCKET, sockets.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    )
    channel.sendmsg([json.dumps(message).encode() + b"\n"], ancillary)


def hand_over(request):
    for port in request["ports"]:
        made = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
        try:
            # bubblewrap may not have brought the loopback interface up yet.
            made.setsockopt(sockets.IPPROTO_IP, IP_FREEBIND, 1)
            for option in sockets.SO_RCVBUF, sockets.SO_SNDBUF:
                made.setsockopt(sockets.SOL_SOCKET, option, BUFFER)
            made.bind(("127.0.0.1", port))
            answer({"cmd": "NODE_HANDLE", "type": "net.Native", "msg": {"id": request["id"]}}, made.fileno())
        finally:
            made.close()


def as_root(request):
    namespace = open_namespace(request)
    try:
        enter(namespace, CLONE_NEWNET)
        try:
            hand_over(request)
        finally:
            enter(own, CLONE_NEWNET)
    finally:
        os.close(namespace)


def as_user(request):
    # An ordinary user's process may enter the namespaces of the user's programs, but cannot leave them: fork.
    if os.fork() != 0:
        return
    try:
        reporting(in_child, request)
    finally:
        os._exit(0)


def in_child(request):
    namespace = open_namespace(request)
    enter(fcntl.ioctl(namespace, NS_GET_USERNS), CLONE_NEWUSER)
    enter(namespace, CLONE_NEWNET)
    hand_over(request)


def reporting(action, request):
    try:
        action(request)
    except Gone:
        answer({"id": request["id"], "problem": "it has ended", "gone": True})
    except OSError as error:
        answer({"id": request["id"], "problem": error.strerror or str(error)})


def main():
    serve = as_root if os.geteuid() == 0 else as_user
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    held = b""
    while data := channel.recv(65536):
        *lines, held = (held + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "pid" in message:
                reporting(serve, message)
            elif message.get("cmd") == "NODE_HANDLE_NACK":
                # The control plane had no free descriptor. End: the control plane notices that, and starts
                # another helper.
                return


main()

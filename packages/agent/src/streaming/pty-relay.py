# Runs a program in a pseudo-terminal: "python3 -c … cols rows program…". This is a separate process because
# Node.js cannot open a pseudo-terminal without a native addon. Standard input is what the user types,
# standard output is what the terminal shows, and descriptor 3 takes new sizes as lines "cols rows". The exit
# code is the program's, as shells report it. The two directions never wait for each other: a client that
# stops reading output can still send Ctrl-C.
import fcntl
import os
import select
import signal
import struct
import sys
import termios

typing, showing, sizes, most = 0, 1, 3, 65536


def resize(terminal, cols, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(cols), 0, 0))


def start(cols, rows, *program):
    terminal, own = os.openpty()
    resize(terminal, cols, rows)
    pid = os.fork()
    if pid:
        os.close(own)
        return pid, terminal
    try:
        os.setsid()
        fcntl.ioctl(own, termios.TIOCSCTTY, 0)
        for standard in (0, 1, 2):
            os.dup2(own, standard)
        os.close(sizes)
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored, signal.SIG_DFL)
        os.execvp(program[0], program)
    except OSError as error:
        os.write(2, f"{program[0]}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def read(source):
    try:
        return os.read(source, most)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def write(target, data):
    try:
        return data[os.write(target, data) :]
    except BlockingIOError:
        return data


def relay(pid, terminal, ended):
    typed, shown, pending = b"", b"", b""
    while True:
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(sizes, select.POLLIN)
        if not typed:
            poll.register(typing, select.POLLIN)
        if shown:
            poll.register(showing, select.POLLOUT)
        wanted = (select.POLLOUT if typed else 0) | (0 if shown else select.POLLIN)
        if wanted:
            poll.register(terminal, wanted)
        ready = dict(poll.poll())
        if ended in ready:
            read(ended)
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return shown, status
        if sizes in ready:
            *lines, pending = (pending + (read(sizes) or b"")).split(b"\n")
            if lines:
                resize(terminal, *lines[-1].split())
        if typing in ready:
            typed = read(typing)
            if typed == b"":
                raise SystemExit(129)
        if terminal in ready:
            if typed and ready[terminal] & select.POLLOUT:
                typed = write(terminal, typed)
            if not shown and ready[terminal] & (select.POLLIN | select.POLLHUP):
                shown = read(terminal)
                if shown == b"":
                    return shown, os.waitpid(pid, 0)[1]
        if showing in ready:
            shown = write(showing, shown)


def finish(shown, terminal):
    """Shows the last output, without waiting for background processes that still hold the terminal."""
    os.set_blocking(showing, True)
    while True:
        while shown:
            shown = shown[os.write(showing, shown) :]
        if not select.select([terminal], [], [], 0.05)[0]:
            return
        shown = read(terminal)
        if not shown:
            return


ended, wake = os.pipe()
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)
signal.signal(signal.SIGCHLD, lambda *_: None)
pid, terminal = start(*sys.argv[1:])
for end in (typing, showing, sizes, terminal, ended):
    os.set_blocking(end, False)
shown, status = relay(pid, terminal, ended)
finish(shown, terminal)
sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))

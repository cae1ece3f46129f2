"""Runs a program in a terminal that answers the question for its attributes, and prints what the program writes there.

Arguments: the attributes, or "-" for a terminal that does not answer; then the program and its arguments.
"""

import os
import pty
import sys
import termios

attributes, program = sys.argv[1], sys.argv[2:]
question = b"\x1b[c"

child, terminal = pty.fork()
if child == 0:
    os.execvp(program[0], program)
written = b""
answers = 0
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    written += piece
    if attributes != "-" and written.count(question) > answers:
        answers += 1
        is_raw = not termios.tcgetattr(terminal)[3] & termios.ICANON
        os.write(terminal, f"\x1b[?{attributes}c".encode())
        sys.stderr.write("raw\n" if is_raw else "not raw\n")
sys.stdout.buffer.write(written)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

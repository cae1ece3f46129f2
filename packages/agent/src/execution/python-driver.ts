/**
 * What `python3 -c` runs. It runs the program, which is its argument or, when that would be too long, its standard
 * input, as `__main__` under a name of its own, as if there were no driver: no file is written, tracebacks do not show
 * it, and its source is there for tracebacks and `inspect`. Lines are written when they end, so that a program which
 * is killed has said what it said.
 *
 * Python's own `compile` takes a name, but its first call costs a tenth of Python's whole start. `exec` does not have
 * that cost and takes no name; so `exec` compiles, a trace function takes the result away before its first line runs,
 * and it is renamed.
 */
export const pythonDriver = `
def boot():
    import sys
    if len(sys.argv) > 1:
        source = sys.argv.pop()
    else:
        import os
        with open(0, "rb") as program:
            source = program.read().decode()
        os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
    name = "execution.py"
    space = sys.modules["__main__"].__dict__
    program = None
    class Taken(BaseException):
        pass
    class Loader:
        def get_source(self, name):
            return source
    def take(frame, event, argument):
        nonlocal program
        program = frame.f_code
        raise Taken
    def renamed(code):
        parts = (renamed(part) if isinstance(part, type(code)) else part for part in code.co_consts)
        return code.replace(co_filename=name, co_consts=tuple(parts))
    def report(kind, error, trace):
        while trace and trace.tb_frame.f_code.co_filename == "<string>":
            trace = trace.tb_next
        workdir = sys.path.pop(0) if sys.path[:1] == [""] else None
        try:
            import traceback
        finally:
            if workdir is not None:
                sys.path.insert(0, workdir)
        traceback.print_exception(kind, error, trace)
    del space["boot"]
    space["__loader__"] = Loader()
    sys.excepthook = report
    sys.stdout.reconfigure(line_buffering=True)
    sys.settrace(take)
    try:
        exec(source, space)
    except Taken:
        pass
    except SyntaxError as error:
        error.filename = name
        raise
    finally:
        sys.settrace(None)
    exec(renamed(program), space)
boot()
`.trim();

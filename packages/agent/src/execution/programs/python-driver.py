# Run with "python3 -c": reads a program from standard input and runs it as __main__. No file is written;
# tracebacks and the inspect module get the source from the loader. Output is line-buffered, so that a program
# that is killed loses no complete line.
def boot():
    import os
    import sys

    with open(0, "rb") as program:
        source = program.read().decode()
    os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)

    class Loader:
        def get_source(self, name):
            return source

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

    sys.excepthook = report
    sys.stdout.reconfigure(line_buffering=True)
    space = sys.modules["__main__"].__dict__
    del space["boot"]
    space["__loader__"] = Loader()
    exec(compile(source, "execution.py", "exec", dont_inherit=True), space)


boot()

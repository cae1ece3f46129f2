# The driver of Python contexts: keeps variables between executions. Its source is an argument of
# python-context-command.py. The driver talks to the agent over descriptor 3 (control-channel.ts) and runs
# one request after the other in __main__. A request names two pipes; the driver makes them its standard
# output and error, so that child processes write to them too. Pipes that the interpreter was started with
# are named by their descriptors, which the driver closes.
#
# The driver imports only what every execution needs, because an idle one takes memory in every sandbox.
# IPython is loaded only for an IPython cell, a magic, or code that imports it.
#
# A request with the field "p", the path of a file, is a program: the only request, after which the
# interpreter ends as it would after "python3 FILE".
def boot(displays):
    import _signal
    import _thread
    import builtins
    import os
    import site
    import sys
    from _frozen_importlib_external import PathFinder, SourceFileLoader

    driver, own, main = "<cloud-sandbox>", os.getpid(), _thread.get_ident()
    inherited = "/proc/self/fd/"
    # No expression begins with one of these.
    statements = "if ", "for ", "while ", "with ", "def ", "class ", "try:", "async ", "import ", "from "
    channel, only_ast, top_await, is_coroutine = 3, 0x400, 0x2000, 0x80
    longest_text = 65536
    allow_ipython = sys.argv.pop() != "no-ipython"
    os.set_inheritable(channel, False)
    os.set_blocking(channel, True)
    os.environ.setdefault("MPLBACKEND", "agg")
    stdin, stdout, stderr = sys.stdin, None, None
    encoding, errors = sys.stdout.encoding, sys.stdout.errors
    flush_c, seen_modules = None, 0
    space, here = sys.modules["__main__"].__dict__, ""
    space.pop("load", None)
    lock = _thread.allocate_lock()
    running = sending = interrupted = failed = False
    sources = {}
    loop = shell = None

    # The channel to the agent. A frame is a length of four bytes, a letter for its type, and a payload.
    def receive(size):
        data = bytearray()
        while len(data) < size:
            piece = os.read(channel, min(size - len(data), 1 << 20))
            if not piece:
                os._exit(0)
            data += piece
        return bytes(data)

    def send(kind, payload=b""):
        nonlocal sending, interrupted
        if os.getpid() != own:
            return
        here = _thread.get_ident() == main
        with lock:
            # While sending is true, on_interrupt postpones KeyboardInterrupt: the agent must not get half a
            # frame.
            sending = sending or here
            try:
                data = memoryview((len(payload) + 1).to_bytes(4, "big") + kind + payload)
                while data:
                    data = data[os.write(channel, data) :]
            finally:
                if here:
                    sending = False
        if here and interrupted:
            interrupted = False
            raise KeyboardInterrupt

    def on_interrupt(number, frame):
        nonlocal interrupted
        if sending:
            interrupted = running
        elif running or os.getpid() != own:
            raise KeyboardInterrupt

    # Tracebacks leave out the driver's own frames and show the source lines of the code.
    class Loader:
        def get_source(self, name):
            return next(reversed(sources.values()), "")

    def remember(name, source):
        sources[name] = source
        while len(sources) > 1 and (len(sources) > 256 or sum(map(len, sources.values())) > 4 << 20):
            del sources[next(iter(sources))]
        if "linecache" in sys.modules:
            show_source(sys.modules["linecache"])

    def show_source(linecache):
        for name, source in sources.items():
            # Split as the interpreter counts lines. Each needs its line end, or carets are one column off.
            lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            linecache.cache[name] = len(source), None, [line + "\n" for line in lines], name

    def isolated(load):
        has_workdir = sys.path[:1] == [here]
        if has_workdir:
            del sys.path[0]
        try:
            return load()
        finally:
            if has_workdir:
                sys.path.insert(0, here)

    def own_part(trace):
        first = trace
        while first and first.tb_frame.f_code.co_filename not in sources:
            first = first.tb_next
        while first is None and trace and trace.tb_frame.f_code.co_filename == driver:
            trace = trace.tb_next
        node = first = first or trace
        last = None
        while node:
            if node.tb_frame.f_code.co_filename != driver:
                last = node
            node = node.tb_next
        if last:
            last.tb_next = None
        return first

    def without_driver(error, trace):
        """The part of a traceback that is the code's own. Trims those of the error's contexts, too."""
        first = own_part(trace)
        # An interruption while an error is handled has that one as its context.
        chained, seen = getattr(error, "__context__", None), set()
        while chained is not None and id(chained) not in seen:
            seen.add(id(chained))
            chained.__traceback__ = own_part(chained.__traceback__)
            cause = chained.__cause__
            chained = chained.__context__ if cause is None else cause
        return first

    def report(kind, error, trace):
        traceback = isolated(lambda: __import__("traceback"))
        traceback.print_exception(kind, error, without_driver(error, trace))
        advise(kind, error)

    def send_exception(kind, error, trace):
        """Tells the agent of the exception that ended the code, in addition to what standard error says."""
        try:
            traceback = isolated(lambda: __import__("traceback"))
            lines = traceback.format_exception(kind, error, without_driver(error, trace))
            texts = kind.__name__, str(error), "".join(lines)
            parts = [text[:longest_text].replace("\0", "\ufffd") for text in texts]
            send(b"X", "\0".join(parts).encode("utf-8", "replace"))
        except Exception:
            # The exception's own methods fail, or the code has closed the channel.
            pass

    # The modules that people expect of a code interpreter, with the packages that have them.
    names = "pandas", "numpy", "matplotlib", "scipy", "requests", "httpx", "ipykernel"
    expected = {"sklearn": "scikit-learn", "bs4": "beautifulsoup4", **dict(zip(names, names))}

    def advise(kind, error):
        """Says once how to get a package that is expected and missing."""
        if kind is not ModuleNotFoundError or type(error.name) is not str:
            return
        package = expected.pop(error.name, None)
        if package:
            sys.stderr.write(
                f'Hint: "pip install {package}" installs it in this sandbox. For all sandboxes, run '
                '"cloud-sandbox-local setup" on the machine that runs them, or use an image that has it.\n'
            )

    begin_displays, dropped, emit, display, show_result, figures, png = displays(send)

    # IPython, if it is installed.
    def load_shell(_=None):
        nonlocal shell
        if shell or not allow_ipython or not PathFinder.find_spec("IPython"):
            return shell

        def load():
            from IPython.core.displaypub import DisplayPublisher
            from IPython.core.interactiveshell import InteractiveShell

            return DisplayPublisher, InteractiveShell

        DisplayPublisher, InteractiveShell = isolated(load)
        import shutil
        import tempfile

        from traitlets import Type
        from traitlets.config import Config

        class Publisher(DisplayPublisher):
            def publish(self, data, metadata=None, **options):
                if any(mime != "text/plain" for mime in data):
                    emit(data)
                elif "text/plain" in data:
                    print(data["text/plain"])

        class Shell(InteractiveShell):
            display_pub_class = Type(Publisher)

            def system(self, command):
                sys.stdout.flush()
                self.system_raw(self.var_expand(command, depth=1))

            def showtraceback(self, *_, **__):
                nonlocal failed
                failed = True
                sys.excepthook(*sys.exc_info())
                send_exception(*sys.exc_info())

            def enable_gui(self, gui=None):
                pass

            def init_sys_modules(self):
                pass

        config, home = Config(), tempfile.mkdtemp()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "NoColor"
        try:
            shell = Shell(config=config, ipython_dir=home, user_module=sys.modules["__main__"], user_ns=space)
        finally:
            shutil.rmtree(home, ignore_errors=True)
        for kind in Shell._walk_mro():
            kind._instance = shell
        builtins.get_ipython = shell.get_ipython
        sys.excepthook, sys.displayhook = report, lambda value: value is None or show_result(value)
        shell.display_formatter.formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", png)
        return shell

    hooks = {
        "IPython": load_shell,
        "linecache": show_source,
        "matplotlib.pyplot": lambda pyplot: setattr(pyplot, "show", figures),
    }

    class AfterImport:
        def find_spec(self, name, path=None, target=None):
            after = hooks.pop(name, None)
            if not after:
                return None
            spec = PathFinder.find_spec(name, path, target)
            if not spec or not spec.loader or isinstance(spec.loader, type):
                hooks[name] = after
                return spec
            load = spec.loader.exec_module

            def exec_module(module):
                try:
                    load(module)
                except BaseException:
                    hooks[name] = after
                    raise
                after(module)

            spec.loader.exec_module = exec_module
            return spec

    # Running.
    def pieces(source, name):
        """The code objects of what is before the last statement, and of the last one. None if only a syntax
        tree tells where that begins: making the classes of syntax trees takes longer than most programs run.
        """
        start = len(source)
        for _ in range(1000):
            start = source.rfind("\n", 0, start)
            if start < 0 or source[start + 1 : start + 2] not in "\n\t\f #)]}":
                break
        head, tail = source[: start + 1], source[start + 1 :]
        # A backslash may cause a warning, which compiling twice would repeat.
        if ";" in tail or "\\" in tail or "\r" in source or "__future__" in source:
            return None
        mode = "exec" if tail.startswith(statements) else "eval"
        try:
            # The empty lines give the last statement its line numbers.
            last = compile("\n" * head.count("\n") + tail, name, mode, top_await, True)
            return (compile(head, name, "exec", top_await, True), last) if head else (last,)
        except Exception:
            return None

    def compiled(source, name):
        codes = pieces(source, name)
        if codes:
            return codes
        import _ast

        tree = compile(source, name, "exec", only_ast | top_await, True)
        codes = []
        if tree.body and type(tree.body[-1]) is _ast.Expr and not source.rstrip().endswith(";"):
            last = _ast.Expression(tree.body.pop().value)
            codes.append(compile(last, name, "eval", top_await, True))
        return compile(tree, name, "exec", top_await, True), *codes

    def is_magic(source):
        lines = [line.strip() for line in source.splitlines()]
        return any(
            line[:1] in ("%", "!", "?")
            or line[-1:] == "?"
            or "=%" in line.replace(" ", "")
            or "=!" in line.replace(" ", "")
            for line in lines
        )

    def understood(source, name, is_cell):
        """The code objects of a source. A source that is not valid Python may be IPython."""
        error = None
        if not is_cell:
            try:
                return compiled(source, name)
            except SyntaxError as caught:
                if not is_magic(source):
                    raise
                error = caught
        if load_shell():
            return compiled(shell.transform_cell(source), name)
        if error or is_magic(source):
            sys.stderr.write(
                "Lines that begin with % or ! need IPython, which this sandbox does not have."
                " Install it with pip install ipython, or use the subprocess module.\n"
            )
        return compiled(source, name)

    def wait(coroutine):
        nonlocal loop
        asyncio = isolated(lambda: __import__("asyncio"))
        if loop is None or loop.is_closed():
            loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        task = loop.create_task(coroutine)
        try:
            return loop.run_until_complete(task)
        except KeyboardInterrupt:
            task.cancel()
            try:
                loop.run_until_complete(task)
            except BaseException:
                pass
            raise

    def run(source, name, is_cell):
        value = None
        for code in understood(source, name, is_cell):
            value = eval(code, space)
            if code.co_flags & is_coroutine:
                value = wait(value)
        if value is not None:
            show_result(value)

    def exit_code(end):
        code = end.code
        if code is None:
            return 0
        if isinstance(code, int):
            return code & 0xFF
        sys.stderr.write(str(code) + "\n")
        return 1

    def execute(source, name, is_cell, is_program):
        nonlocal running, failed
        code, failed = 0, False
        try:
            try:
                running = True
                try:
                    run(source, name, is_cell)
                finally:
                    figures()
                    if not is_program and not sys.stdout.closed:
                        sys.stdout.flush()
            finally:
                running = False
        except SystemExit as end:
            code = exit_code(end)
        except BaseException as error:
            code = 128 + _signal.SIGINT if is_program and isinstance(error, KeyboardInterrupt) else 1
            for tell in sys.excepthook, report:
                try:
                    tell(*sys.exc_info())
                    break
                except BaseException:
                    pass
            send_exception(*sys.exc_info())
        if is_program:
            return code or int(failed)
        for each in sys.stdout, sys.stderr, stdout, stderr:
            try:
                each.flush()
            except Exception:
                pass
        if os.getpid() != own:
            os._exit(code)
        return code or int(failed)

    def connect(*paths):
        for number, path in enumerate(paths, 1):
            # A FIFO without a reader is not the agent's. With O_NONBLOCK, opening it fails instead of
            # blocking.
            pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            os.set_blocking(pipe, True)
            if pipe != number:
                os.dup2(pipe, number)
                os.close(pipe)
            else:
                os.set_inheritable(number, True)
            if path.startswith(inherited):
                os.close(int(path[len(inherited) :]))

    def stream(number, name, errors):
        """A standard output as the interpreter makes it. The descriptor must be a pipe already: a stream
        finds out once whether it is one.
        """
        made = open(number, "w", 1, encoding, errors, closefd=False)
        made.buffer.raw.name, made.mode = name, "w"
        return made

    def restore_streams():
        nonlocal stdin, stdout, stderr
        # A wrapper that nobody else has closes what it wraps.
        sys.stdin = sys.stdout = sys.stderr = None
        if stdin.closed:
            stdin = open(0, closefd=False)
        if stdout is None or stdout.closed:
            stdout = sys.__stdout__ = stream(1, "<stdout>", errors)
        if stderr is None or stderr.closed:
            stderr = sys.__stderr__ = stream(2, "<stderr>", "backslashreplace")
        sys.stdin, sys.stdout, sys.stderr = stdin, stdout, stderr

    def flush_extensions():
        """Writes what C code has printed, which a later execution would tell as its own."""
        nonlocal flush_c, seen_modules
        if flush_c is None and len(sys.modules) != seen_modules:
            seen_modules = len(sys.modules)
            files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
            if "_ctypes" in sys.modules or any(
                isinstance(file, str) and file.endswith(".so") and "/lib-dynload/_" not in file
                for file in files
            ):
                try:
                    flush_c = isolated(lambda: __import__("ctypes")).CDLL(None).fflush
                except (ImportError, OSError, AttributeError):
                    # A Python without ctypes: what C code prints comes when its buffer is full.
                    flush_c = False
        if flush_c:
            flush_c(None)

    def find_packages():
        """Makes packages importable that were installed for the user after this process had started."""
        place = site.USER_SITE
        if site.ENABLE_USER_SITE and place and place not in sys.path and os.path.isdir(place):
            site.addsitedir(place)
            import importlib

            importlib.invalidate_caches()

    def become_main(path, source, is_written):
        nonlocal here, space
        import gc

        # Objects that exist already stay until the end, when Python would otherwise visit all of them
        # twice. The program's variables are not among them: they end as in any module.
        gc.freeze()
        sys.modules["__main__"] = module = type(sys)("__main__")
        space = module.__dict__
        space.update(__builtins__=builtins, __annotations__={})
        sys.argv[:] = [path]
        try:
            if sys.path[:1] == [""]:
                here = sys.path[0] = os.getcwd()
        except OSError:
            # The directory is gone.
            pass
        space.update(__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        if is_written:
            try:
                with open(path, "x", encoding="utf-8", newline="") as file:
                    file.write(source)
            except OSError:
                # A file of the user's has this name, or the directory cannot be written to.
                pass

    def end_program(code):
        """Leaves the rest to the interpreter: it waits for threads, runs exit handlers, ends variables."""
        nonlocal shell, space
        shell = space = None
        if loop is not None and not loop.is_closed():
            close_loop()
        try:
            send(b"E", b"%d %d" % (code, dropped()))
        except OSError:
            # The code has closed the channel. The exit code tells the rest.
            pass
        return code

    def close_loop():
        """Closes the event loop as asyncio.run does."""
        asyncio = sys.modules["asyncio"]
        try:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        except BaseException:
            report(*sys.exc_info())
        finally:
            loop.close()

    def serve():
        head, _, source = receive(int.from_bytes(receive(4), "big")).partition(b"\0\0")
        fields, restored, before = {}, {}, None
        for field in head.split(b"\0"):
            tag, rest = field[:1], field[1:]
            variable, _, value = rest.partition(b"=")
            if tag == b"!":
                restored[variable] = os.environb.get(variable)
            if tag in b"+!":
                os.environb[variable] = value
            elif tag == b"-":
                os.environb.pop(rest, None)
            else:
                fields[tag] = os.fsdecode(rest)

        def restore():
            for variable, value in restored.items():
                if value is None:
                    os.environb.pop(variable, None)
                else:
                    os.environb[variable] = value
            if before:
                try:
                    os.chdir(before)
                except OSError:
                    pass

        program = fields.get(b"p")
        try:
            if b"s" in fields:
                os.chdir(fields[b"s"])
            if b"c" in fields:
                try:
                    before = os.getcwd()
                except OSError:
                    pass
                os.chdir(fields[b"c"])
        except OSError as error:
            restore()
            return send(b"F", error.strerror.encode())
        if b"TZ=" in head:
            import time

            time.tzset()
        _signal.signal(_signal.SIGINT, on_interrupt)
        find_packages()
        begin_displays()
        source, name = source.decode("utf-8-sig"), fields[b"n"]
        remember(name, source)
        try:
            connect(fields[b"o"], fields[b"e"])
        except OSError:
            restore()
            connect(os.devnull, os.devnull)
            return send(b"P")
        restore_streams()
        if program:
            become_main(program, source, b"w" in fields)
        send(b"S")
        code = execute(source, name, b"i" in fields, program is not None)
        if program:
            return end_program(code)
        flush_extensions()
        restore()
        connect(os.devnull, os.devnull)
        try:
            send(b"E", b"%d %d" % (code, dropped()))
        except OSError:
            os._exit(code)

    compile("", "", "exec")
    # Search by hand: an import would cache the listings of all package directories in memory.
    has_ipython = allow_ipython and any(os.path.isdir(place + "/IPython") for place in sys.path)
    sys.meta_path.insert(0, AfterImport())
    # Hooks of programs call the original one.
    sys.excepthook = sys.__excepthook__ = report
    builtins.display = display
    space["__loader__"] = Loader()
    _signal.signal(_signal.SIGINT, on_interrupt)
    send(b"H", b"ipython" if has_ipython else b"")
    code = None
    while code is None:
        try:
            code = serve()
        except KeyboardInterrupt:
            pass
    raise SystemExit(code)

/**
 * What `python3 -c` runs: it reads the program from standard input and runs it as `__main__`, as if there were no
 * driver. No file is written: the loader is how tracebacks and `inspect` get at the source. Lines are written when
 * they end, so that a program which is killed has said what it said.
 *
 * Before the program come the directory and the variables to run with, separated by NULs, or nothing at all; then two
 * NULs. Packages of the user are looked for again then: they may be newer than the interpreter. What takes Python long
 * the first time is done before the program is read.
 */
export const pythonDriver = `
def boot():
    import os, site, sys
    compile("", "", "exec")
    with open(0, "rb") as program:
        place, _, source = program.read().partition(b"\\0\\0")
    source = source.decode()
    if place:
        workdir, *variables = place.split(b"\\0")
        os.chdir(workdir)
        os.environb.clear()
        os.environb.update(variable.split(b"=", 1) for variable in variables)
        site.addusersitepackages(None)
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
`.trim();

/** What the driver reads when it was started with the directory and the variables of the program. */
export const pythonInput = (code: string): string => `\0\0${code}`;

/** What it reads when it was started before they were known. */
export function pythonInputWhenWaiting(
  code: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [cwd, ...variables].join("\0") + pythonInput(code);
}

# Starts the driver of Python contexts for a single program. The argument is the path of the driver's files
# without their ending: the compiled driver, if this Python has compiled it, else the source.
def loaded():
    import marshal
    import sys
    from _frozen_importlib_external import MAGIC_NUMBER

    place = sys.argv.pop(1)
    try:
        with open(place + ".pyc", "rb") as file:
            data = file.read()
        if data[:4] == MAGIC_NUMBER:
            return marshal.loads(memoryview(data)[16:])
    except OSError:
        pass
    with open(place + ".py", "rb") as file:
        return compile(file.read(), "<cloud-sandbox>", "exec", dont_inherit=True)


# In variables of its own: the driver's functions would keep those of the code alive at the interpreter's end.
exec(loaded(), {})

def load():
    import os

    def read(size):
        data = b""
        while len(data) < size:
            data += os.read(3, size - len(data)) or os._exit(0)
        return data

    return read(int.from_bytes(read(4), "big"))


exec(load(), {"load": load})

# Sends what an execution displays: figures, and values that have a form other than text. The agent appends
# the driver of contexts to this file. The number and the size of outputs are limited; outputs beyond the
# limits are counted and dropped.
def displays(send):
    import sys

    most_outputs, most_bytes, longest_text = 64, 8 << 20, 1 << 20
    outputs = sent = dropped = 0
    shown = []

    def begin():
        nonlocal outputs, sent, dropped
        outputs = sent = dropped = 0
        shown.clear()

    kinds = {
        "_repr_html_": "text/html",
        "_repr_markdown_": "text/markdown",
        "_repr_svg_": "image/svg+xml",
        "_repr_png_": "image/png",
        "_repr_jpeg_": "image/jpeg",
        "_repr_latex_": "text/latex",
        "_repr_json_": "application/json",
    }

    def represent(value, method, **options):
        hook = getattr(type(value), method)
        # None switches a hook off.
        if hook is None:
            return None
        try:
            data = hook(value, **options)
        except NotImplementedError:
            return None
        except Exception:
            sys.excepthook(*sys.exc_info())
            return None
        return data[0] if isinstance(data, tuple) and data else data

    def bundle(value):
        kind, found = type(value), {}
        if isinstance(value, type):
            return found
        if hasattr(kind, "_repr_mimebundle_"):
            found.update(represent(value, "_repr_mimebundle_", include=None, exclude=None) or {})
        for method, mime in kinds.items():
            if mime not in found and hasattr(kind, method):
                data = represent(value, method)
                if data is not None:
                    found[mime] = data
        figure = sys.modules.get("matplotlib.figure")
        if figure and isinstance(value, figure.Figure):
            found["image/png"] = png(value)
        return found

    def png(figure):
        import io

        shown.append(figure)
        file = io.BytesIO()
        figure.savefig(file, format="png", bbox_inches="tight")
        return file.getvalue()

    def emit(found):
        nonlocal outputs, sent, dropped
        for mime, data in found.items():
            if mime == "text/plain" or data is None:
                continue
            if isinstance(data, (bytes, bytearray)):
                import binascii

                data = binascii.b2a_base64(data, newline=False)
            elif not isinstance(data, str) or mime == "application/json":
                import json

                data = json.dumps(data, default=str).encode()
            else:
                data = data.encode("utf-8", "replace")
            if outputs >= most_outputs or sent + len(data) > most_bytes:
                dropped += 1
                continue
            outputs += 1
            sent += len(data)
            send(b"D", mime.encode() + b"\0" + data)

    def display(*values, raw=False, **_):
        for value in values:
            found = value if raw else bundle(value)
            if any(mime != "text/plain" for mime in found):
                emit(found)
            else:
                print(found.get("text/plain") or repr(value))

    def show_result(value):
        text = repr(value)
        if len(text) > longest_text:
            text = text[:longest_text] + " [cut]"
        send(b"R", text.encode("utf-8", "replace"))
        emit(bundle(value))

    def figures(*_, **__):
        pyplot = sys.modules.get("matplotlib.pyplot")
        if not hasattr(pyplot, "get_fignums"):
            return
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            if figure not in shown:
                emit({"image/png": png(figure)})
            pyplot.close(figure)

    def dropped_count():
        return dropped

    return begin, dropped_count, emit, display, show_result, figures, png

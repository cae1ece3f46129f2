/**
 * A form as one Blob: files are referred to, not read, and the length is known. It suits every carrier,
 * where undici accepts no `FormData` but its own.
 */
export function encodeForm(form: FormData): Blob {
  const boundary = `----cloud-sandbox-${globalThis.crypto.randomUUID()}`;
  const parts: Array<string | Blob> = [];
  for (const [name, value] of form.entries()) {
    const disposition = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
    if (typeof value === "string") {
      parts.push(`${disposition}\r\n\r\n${value}\r\n`);
    } else {
      const type = value.type === "" ? "application/octet-stream" : value.type;
      parts.push(
        `${disposition}; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`,
        value,
        "\r\n",
      );
    }
  }
  parts.push(`--${boundary}--\r\n`);
  return new Blob(parts, { type: `multipart/form-data; boundary=${boundary}` });
}

/** As browsers write it. */
function quoted(text: string): string {
  return text.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}

/** Attacks on a credential that a sandbox uses without having it: a program for each, and what it may print. */
export interface SecretAttack {
  readonly tries: string;
  /** A program in Python, after {@link attackTools}. */
  readonly program: string;
  readonly prints: RegExp;
}

/**
 * What the attacks have in common: TLS within a tunnel of the egress proxy, as far from a usual client as they like. The places are those
 * of the test: API and OTHER have secrets, BLIND has none, and STRANGE has one, but no certificate.
 */
export const attackTools = `import base64, gzip, os, re, socket, ssl, subprocess, sys
API, OTHER, BLIND, STRANGE, PORT = "api.secret.test", "other.secret.test", "blind.secret.test", "strange.secret.test", int(os.environ["PORT"])
TOKEN, FOREIGN = os.environ["TOKEN"], os.environ.get("FOREIGN", "")
def reply(connection):
    data = b""
    try:
        while piece := connection.recv(65536): data += piece
    except (OSError, ssl.SSLError): pass
    return data.decode("latin1")
def tunnel(host, port=None):
    connection = socket.create_connection(("127.0.0.1", 3128), 20)
    connection.sendall(f"CONNECT {host}:{port or PORT} HTTP/1.1\\r\\nhost: {host}:{port or PORT}\\r\\n\\r\\n".encode())
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n"):
        byte = connection.recv(1)
        if not byte: break
        head += byte
    if b" 200 " not in head: raise SystemExit((head + connection.recv(65536)).decode("latin1"))
    return connection
def secured(host, name=None, connection=None):
    context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
    context.check_hostname = False
    return context.wrap_socket(connection or tunnel(host), server_hostname=name or host)
def raw(lines, host=API, body="", name=None):
    connection = secured(host, name)
    connection.sendall(("\\r\\n".join(lines) + "\\r\\n\\r\\n" + body).encode("latin1"))
    return reply(connection)
def ask(path="/", headers=(), host=API, method="GET", body="", name=None):
    head = [f"{method} {path} HTTP/1.1", f"host: {host}:{PORT}", "connection: close", *headers]
    if body: head.append(f"content-length: {len(body)}")
    return raw(head, host, body, name)
def has(content):
    # The needles are given backwards, so that nothing but a leak has them as they are.
    backwards = content[::-1]
    return any(part.encode() in backwards for part in os.environ["PARTS"].split(","))
def memory(pid):
    content = b""
    try:
        for line in open(f"/proc/{pid}/maps"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            if not re.search(r" rw.p .*(\\[|00:00 0 *$)", line) or "vvar" in line: continue
            with open(f"/proc/{pid}/mem", "rb") as file:
                file.seek(start)
                content += file.read(min(end - start, 1 << 24))
    except (OSError, OverflowError, ValueError): pass
    return content
bearer = lambda token=TOKEN: f"authorization: Bearer {token}"
`;

const refused = /^HTTP\/1\.1 403 /;

export const secretAttacks: readonly SecretAttack[] = [
  {
    tries: "the variables, command lines and memory of all its processes",
    program: `found = []
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in "environ", "cmdline":
        try:
            if has(open(f"/proc/{pid}/{name}", "rb").read()): found.append(f"{pid} {name}")
        except OSError: pass
    if int(pid) not in (os.getpid(), os.getppid()) and has(memory(pid)): found.append(f"{pid} memory")
print("found:", found)`,
    prints: /^found: \[\]\n$/,
  },
  {
    tries: "the memory of a program that has just used it",
    program: `child = subprocess.Popen([sys.executable, "-c", "from tools import *; print(ask('/', [bearer()])[:15], flush=True); sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(child.stdout.readline().decode().strip())
content = memory(child.pid)
print("read:", len(content) > 1 << 20, "placeholder:", TOKEN.encode() in content, "credential:", has(content))
child.kill()`,
    prints: /^HTTP\/1\.1 200 OK\nread: True placeholder: True credential: False\n$/,
  },
  {
    tries: "another host whose TLS is ended",
    program: "print(ask('/', [bearer()], OTHER))",
    prints: refused,
  },
  {
    tries: "a host without a secret, which gets the placeholder",
    program: "print('got', TOKEN in ask('/echo', [bearer()], BLIND))",
    prints: /^got True\n$/,
  },
  {
    tries: "plain HTTP",
    program: `connection = socket.create_connection(("127.0.0.1", 3128))
connection.sendall(f"GET http://{API}:{PORT}/ HTTP/1.1\\r\\nhost: {API}:{PORT}\\r\\n{bearer()}\\r\\nconnection: close\\r\\n\\r\\n".encode())
print(reply(connection))`,
    prints: refused,
  },
  {
    tries: "places that servers store and show again",
    program: `for place in f"user-agent: {TOKEN}", f"x-amz-meta-note: {TOKEN}", f"cookie: a={TOKEN}", f"authorization: Digest username={TOKEN}":
    print(ask("/", [place]).split("\\r\\n")[0])
for path in f"/{TOKEN}", f"/?key={TOKEN}": print(ask(path).split("\\r\\n")[0])
print("body", TOKEN in ask("/echo", method="POST", body=TOKEN))`,
    prints: /^(?:HTTP\/1\.1 403 Forbidden\n){6}body True\n$/,
  },
  {
    tries: "a server that repeats it: in a header, a body, in parts, for Basic, compressed",
    program: `basic = "authorization: Basic " + base64.b64encode(f"user:{TOKEN}".encode()).decode()
for path in "/echo", "/parts", "/header", "/reason": print(path, "*" * 20 in ask(path, [bearer()]))
print("basic", "*" * 20 in ask("/echo", [basic]))
print("gzip", re.search(rb"\\x1f\\x8b.{40}", ask("/gzip", [bearer()]).encode("latin1"), re.S) is not None)`,
    prints: /^\/echo True\n\/parts True\n\/header True\n\/reason True\nbasic True\ngzip False\n$/,
  },
  {
    tries: "TRACE and CONNECT within the tunnel, and OPTIONS *",
    program: `for method, path in ("TRACE", "/"), ("CONNECT", "evil.test:443"), ("OPTIONS", "*"):
    print(method, (ask(path, [bearer()], method=method) or "closed").split("\\r\\n")[0])`,
    prints:
      /^TRACE HTTP\/1\.1 403 Forbidden\nCONNECT (?:closed|HTTP\/1\.1 4\d\d .*)\nOPTIONS HTTP\/1\.1 200 OK\n$/,
  },
  {
    tries: "a name in TLS, in Host and in the target that is another's",
    program: `try: print("SNI", ask("/", [bearer()], name=OTHER))
except (OSError, ssl.SSLError): print("SNI closed")
print("Host", raw(["GET / HTTP/1.1", f"host: {BLIND}:{PORT}", bearer(), "connection: close"]).split("\\r\\n")[0])
print("Hosts", raw(["GET / HTTP/1.1", f"host: {API}:{PORT}", f"host: {BLIND}", bearer(), "connection: close"]).split("\\r\\n")[0])
print("target", raw([f"GET https://{BLIND}:{PORT}/ HTTP/1.1", f"host: {API}:{PORT}", bearer(), "connection: close"]).split("\\r\\n")[0])`,
    prints:
      /^SNI closed\nHost HTTP\/1\.1 421 .*\nHosts HTTP\/1\.1 400 .*\ntarget HTTP\/1\.1 4(?:00|21) .*\n$/,
  },
  {
    tries: "a tunnel to a host without a secret, with the name of the one that has it",
    program: `print("got", TOKEN in ask("/echo", [bearer()], BLIND, name=API))`,
    prints: /^got True\n$/,
  },
  {
    tries: "the address of the host",
    program: `try: print(secured(API, connection=tunnel("127.0.0.1")) and "connected")
except SystemExit as end: print(str(end).split("\\r\\n")[0])`,
    prints: refused,
  },
  {
    tries: "requests that are smuggled in others",
    program: `inner = f"GET /smuggled HTTP/1.1\\r\\nhost: {API}:{PORT}\\r\\nx-note: {TOKEN}\\r\\n\\r\\n"
start = ["POST / HTTP/1.1", f"host: {API}:{PORT}", bearer()]
for headers in (["content-length: 0", "content-length: 5"], ["content-length: 5", "transfer-encoding: chunked"], ["transfer-encoding: gzip, chunked"],
    ["transfer-encoding: xchunked"], ["transfer-encoding : chunked"], ["content-length: +5"], ["x: a\\n b"], ["x: a\\0b"]):
    print(raw(start + headers + ["connection: close"], body="0\\r\\n\\r\\n" + inner).split("\\r\\n")[0] or "closed")
print(raw(["POST / HTTP/1.0", f"host: {API}:{PORT}", bearer(), "transfer-encoding: chunked"], body="0\\r\\n\\r\\n" + inner).split("\\r\\n")[0])`,
    prints: /^(?:(?:HTTP\/1\.1 400 Bad Request|closed)\n){9}$/,
  },
  {
    tries: "a hundred requests at once, half with it",
    program: `one = f"GET /with HTTP/1.1\\r\\nhost: {API}:{PORT}\\r\\n{bearer()}\\r\\n\\r\\n"
other = f"GET /without HTTP/1.1\\r\\nhost: {API}:{PORT}\\r\\n\\r\\n"
last = f"GET /last HTTP/1.1\\r\\nhost: {API}:{PORT}\\r\\nconnection: close\\r\\n\\r\\n"
connection = secured(API)
connection.sendall(((one + other) * 50 + last).encode())
print(reply(connection).count("HTTP/1.1 200 OK"))`,
    prints: /^101\n$/,
  },
  {
    tries: "a redirect to another host, and to one that is not encrypted",
    program: `answer = ask("/redirect", [bearer()])
print(re.search(r"location: (\\S+)", answer, re.I)[1])
import urllib.request
try: print(urllib.request.urlopen(urllib.request.Request(f"https://{API}:{PORT}/redirect", headers={"authorization": f"Bearer {TOKEN}"})).read().decode())
except Exception as error: print(type(error).__name__)`,
    prints: /^https:\/\/blind\.secret\.test:\d+\/echo\?key=\*+\n[\s\S]*$/,
  },
  {
    tries: "a server that cannot prove its name",
    program: `print(ask("/", [bearer()], STRANGE))`,
    prints: /^HTTP\/1\.1 502 [\s\S]*did not prove by TLS/,
  },
  {
    tries: "placeholders of another sandbox, and guessed ones",
    program: `for token in FOREIGN, "csb_secret_" + "0" * 32, TOKEN[:-1], TOKEN.upper().replace("CSB_SECRET_", "csb_secret_"):
    answer = ask("/", [bearer(token)])
    print(answer.split("\\r\\n")[0], re.search(r"The [^\\r\\n]*", answer)[0])`,
    prints: /^(HTTP\/1\.1 403 Forbidden The placeholder is not that of a secret of this sandbox.*\n)\1\1\1$/,
  },
  {
    tries: "paths and methods outside of its rule",
    program: `ruled = f"authorization: Bearer {os.environ['RULED']}"
for path in "/v1/../admin", "/v1%2f..%2fadmin", "/v10", "//v1/x", "/v1/%2e%2e/admin", "/v1/..;/admin", "/v1\\\\..\\\\admin":
    print(ask(path, [ruled]).split("\\r\\n")[0])
print(ask("/v1/x", [ruled], method="DELETE").split("\\r\\n")[0], ask("/v1/x", [ruled]).split("\\r\\n")[0])`,
    prints: /^(?:HTTP\/1\.1 40[03] .*\n){7}HTTP\/1\.1 403 Forbidden HTTP\/1\.1 200 OK\n$/,
  },
  {
    tries: "the key of the proxy's authority",
    program: `found = []
for top in "/etc", "/opt", "/tmp", "/home", "/run", "/var", "/workspace", "/dev":
    for directory, _, names in os.walk(top):
        # Libraries of TLS have keys for tests of themselves.
        for name in (name for name in names if ".so" not in name):
            path = os.path.join(directory, name)
            try:
                if os.path.isfile(path) and os.path.getsize(path) < 1 << 22 and re.search(rb"-----BEGIN (EC |RSA |ENCRYPTED )?PRIVATE KEY-----\\s+[A-Za-z0-9+/]{60}", open(path, "rb").read()): found.append(path)
            except OSError: pass
print("keys:", found)`,
    prints: /^keys: \[\]\n$/,
  },
  {
    tries: "its own list of authorities, and a proxy of its own",
    program: `script = "import urllib.request as u, os; print(u.urlopen(u.Request(os.environ['SITE'], headers={'authorization': 'Bearer ' + os.environ['TOKEN']})).status)"
site = f"https://{API}:{PORT}/"
def run(**variables): return subprocess.run([sys.executable, "-c", script], env={**os.environ, "SITE": site, **variables}, capture_output=True, text=True)
print(run().stdout.strip(), "CERTIFICATE_VERIFY_FAILED" in run(SSL_CERT_FILE="/dev/null", SSL_CERT_DIR="/nonexistent").stderr, run(HTTPS_PROXY="http://127.0.0.1:1", https_proxy="http://127.0.0.1:1").returncode)`,
    prints: /^200 True 1\n$/,
  },
  {
    tries: "bytes that are not TLS, over a tunnel and over SOCKS5",
    program: `connection = tunnel(API)
connection.sendall(f"GET / HTTP/1.1\\r\\nhost: {API}:{PORT}\\r\\n{bearer()}\\r\\n\\r\\n".encode())
print("tunnel", "200" in reply(connection))
def socks():
    connection = socket.create_connection(("127.0.0.1", 3128), 20)
    connection.sendall(b"\\5\\1\\0")
    connection.recv(2)
    connection.sendall(b"\\5\\1\\0\\3" + bytes([len(API)]) + API.encode() + PORT.to_bytes(2, "big"))
    connection.recv(10)
    return connection
plain = socks()
plain.sendall(b"SSH-2.0-OpenSSH_9\\r\\n")
print("socks", reply(plain) == "")
connection = secured(API, connection=socks())
connection.sendall(f"GET / HTTP/1.1\\r\\nhost: {API}:{PORT}\\r\\n{bearer()}\\r\\nconnection: close\\r\\n\\r\\n".encode())
print("socks with TLS", reply(connection).split("\\r\\n")[0])`,
    prints: /^tunnel False\nsocks True\nsocks with TLS HTTP\/1\.1 200 OK\n$/,
  },
];

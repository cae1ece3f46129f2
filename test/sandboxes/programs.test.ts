import { type Sandbox, SandboxClient } from "cloud-sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  cannotStartAs,
  type LocalServer,
  type StartedBy,
  startLocalServer,
} from "../support/local-server.js";

interface ProgramCase {
  readonly name: string;
  /** A script that bash runs in a directory of its own. */
  readonly script: string;
  /** The whole output of the script. */
  readonly prints: string;
  /** Programs that the script needs on the host. */
  readonly needs: readonly string[];
}

const python = (code: string): string => `python3 - <<'EOF'\n${code}\nEOF`;
const node = (code: string): string => `node - <<'EOF'\n${code}\nEOF`;

const programs: readonly ProgramCase[] = [
  {
    name: "Python's threads",
    script: python(`
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool: print(sum(pool.map(lambda n: n * n, range(100))))`),
    prints: "328350\n",
    needs: ["python3"],
  },
  {
    name: "Python's processes, with locks and queues between them",
    script: `cat > p.py <<'EOF'
import multiprocessing as m
def work(n, lock, queue):
    with lock: queue.put(n * n)
if __name__ == "__main__":
    for method in m.get_all_start_methods():
        c = m.get_context(method); lock = c.Lock(); queue = c.Queue()
        ps = [c.Process(target=work, args=(n, lock, queue)) for n in range(3)]
        for p in ps: p.start()
        got = sorted(queue.get() for _ in ps)
        for p in ps: p.join()
        print(method, got, [p.exitcode for p in ps])
EOF
python3 p.py`,
    prints: ["fork", "spawn", "forkserver"].map((method) => `${method} [0, 1, 4] [0, 0, 0]\n`).join(""),
    needs: ["python3"],
  },
  {
    name: "Python's asyncio, with a server, a child and a timer",
    script: python(`
import asyncio
async def main():
    async def echo(reader, writer): writer.write(await reader.readline()); writer.close()
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"over TCP\\n")
    print((await reader.read()).decode(), end="")
    child = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    print((await child.communicate(b"through a child\\n"))[0].decode(), end="")
    await asyncio.wait_for(asyncio.sleep(0.01), 5)
asyncio.run(main())`),
    prints: "over TCP\nthrough a child\n",
    needs: ["python3"],
  },
  {
    name: "SQLite with a log on disk",
    script: python(`
import sqlite3
db = sqlite3.connect("data.db"); print(db.execute("pragma journal_mode=wal").fetchone()[0])
with db: db.execute("create table t(n)"); db.executemany("insert into t values(?)", [(n,) for n in range(10)])
print(sqlite3.connect("data.db").execute("select sum(n) from t").fetchone()[0])`),
    prints: "wal\n45\n",
    needs: ["python3"],
  },
  {
    name: "a debugger for Python, and a trace of a crash",
    script: `printf 'a = 41\\nb = a + 1\\n' > p.py
printf 'n\\nn\\np b\\nq\\n' | python3 -m pdb p.py | grep -o '(Pdb) 42'
python3 -X faulthandler -c 'import os; os.kill(os.getpid(), 11)' 2>&1 | head -1`,
    prints: "(Pdb) 42\nFatal Python error: Segmentation fault\n",
    needs: ["python3"],
  },
  {
    name: "Node's workers, children and shared memory",
    script: node(`
const { Worker } = require("node:worker_threads");
const { execFileSync, fork } = require("node:child_process");
const counter = new Int32Array(new SharedArrayBuffer(4));
const work = "require('node:worker_threads').workerData && Atomics.add(require('node:worker_threads').workerData, 0, 21)";
Promise.all([1, 2].map(() => new Promise((done) => new Worker(work, { eval: true, workerData: counter }).on("exit", done)))).then(() => {
  console.log(counter[0], execFileSync("echo", ["from a child"]).toString().trim());
  require("node:fs").writeFileSync("child.js", "process.send(process.pid > 0)");
  const child = fork("./child.js");
  child.on("message", (told) => { console.log(told); child.disconnect(); });
});`),
    prints: "42 from a child\ntrue\n",
    needs: ["node"],
  },
  {
    name: "Node's inspector, cluster and streams over TCP",
    script: `cat > server.js <<'EOF'
const cluster = require("node:cluster"), http = require("node:http");
if (cluster.isPrimary) {
  const worker = cluster.fork();
  cluster.on("listening", (_, { port }) => http.get({ port, host: "127.0.0.1" }, (answer) => {
    answer.on("data", (told) => console.log(String(told))).on("end", () => worker.kill());
  }));
} else http.createServer((_, answer) => answer.end("from a worker")).listen(0, "127.0.0.1");
EOF
node server.js
node -e 'const i = require("node:inspector"); const s = new i.Session(); s.connect(); s.post("Runtime.evaluate", { expression: "6*7" }, (_, r) => console.log(r.result.value))'`,
    prints: "from a worker\n42\n",
    needs: ["node"],
  },
  {
    name: "Git, with a clone, a rebase and a packed history",
    script: `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b main one && cd one && for n in 1 2 3; do echo $n > f$n; git add .; git commit -qm "$n"; done
git gc -q && git clone -q . ../two && cd ../two && git checkout -qb side HEAD~1 && echo 4 > f4 && git add . && git commit -qm 4
git rebase -q main && git log --format=%s && git fsck --strict 2>/dev/null && git grep -c 4`,
    prints: "4\n3\n2\n1\nf4:1\n",
    needs: ["git"],
  },
  {
    name: "Go, which builds and runs goroutines and a server",
    script: `cat > main.go <<'EOF'
package main
import ("fmt"; "io"; "net"; "net/http"; "os/exec"; "sync")
func main() {
  var group sync.WaitGroup; var lock sync.Mutex; sum := 0
  for n := 0; n < 100; n++ { n := n; group.Add(1); go func() { lock.Lock(); sum += n; lock.Unlock(); group.Done() }() }
  group.Wait(); fmt.Println(sum)
  listener, err := net.Listen("tcp", "127.0.0.1:0"); if err != nil { panic(err) }
  go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "served\\n") }))
  answer, err := http.Get("http://" + listener.Addr().String()); if err != nil { panic(err) }
  body, _ := io.ReadAll(answer.Body); fmt.Print(string(body))
  out, err := exec.Command("echo", "child").Output(); fmt.Print(string(out), err, "\\n")
}
EOF
go build -o program main.go && ./program`,
    prints: "4950\nserved\nchild\n<nil>\n",
    needs: ["go"],
  },
  {
    name: "C and C++ by make, with threads and shared memory",
    script: `cat > a.c <<'EOF'
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) { int *n = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!fork()) { *n = 42; _exit(0); } wait(0); printf("%d\\n", *n); return 0; }
EOF
cat > b.cc <<'EOF'
#include <future>
#include <iostream>
#include <vector>
int main() { std::vector<std::future<int>> f; for (int n = 0; n < 8; n++) f.push_back(std::async(std::launch::async, [n] { return n; }));
  int sum = 0; for (auto &one : f) sum += one.get(); std::cout << sum << std::endl; }
EOF
printf 'all: a b\\na: a.c\\n\\tgcc -O1 -o a a.c\\nb: b.cc\\n\\tg++ -pthread -o b b.cc\\n' > Makefile
make -s -j2 && ./a && ./b`,
    prints: "42\n28\n",
    needs: ["gcc", "g++", "make"],
  },
  {
    name: "a Java virtual machine, with each of its collectors",
    script:
      "for gc in Serial Parallel G1; do java -Xmx128m -XX:+Use\"$gc\"GC -XX:+UseNUMA -version 2>&1 | grep -c 'Runtime Environment'; done",
    prints: "1\n1\n1\n",
    needs: ["java"],
  },
  {
    name: "tar, find, sort, xargs and a compressor",
    script: `mkdir d && for n in 3 1 2; do echo $n > d/f$n; done && ln d/f1 d/hard && ln -s f1 d/soft && mkfifo d/pipe
tar czf d.tgz d && mkdir out && tar xzf d.tgz -C out && find out/d -type f -print0 | xargs -0 cat | sort -u | tr -d '\\n'
stat -c %F out/d/pipe out/d/soft | tr '\\n' ' '`,
    prints: "123fifo symbolic link ",
    needs: ["tar"],
  },
  {
    name: "what tells about processes and memory",
    script: `top -b -n 1 | grep -c 'load average'; free -m | grep -c Mem; ps -C ps -o comm= | sort -u; [ "$(nproc)" -ge 1 ] && echo cpus
uptime -p | grep -c up; vmstat | wc -l; df / | wc -l
python3 -c 'import os; print(os.cpu_count() >= 1, len(os.getloadavg()), os.sysconf("SC_PHYS_PAGES") > 0)'
node -p 'const os = require("os"); [os.cpus().length > 0, os.totalmem() > 0, os.loadavg().length].join()'`,
    prints: "1\n1\nps\ncpus\n1\n3\n2\nTrue 3 True\ntrue,true,3\n",
    needs: ["top", "free", "ps", "python3"],
  },
  {
    name: "terminals, locks and signals of a shell",
    script: `script -qec 'tty | cut -c1-8' /dev/null | tr -d '\\r'; flock lock echo locked; timeout 1 sleep 5; echo $?
(trap 'echo trapped; exit' TERM; kill $BASHPID; sleep 5); nice -n 5 echo nice; setsid echo session; mktemp -u | cut -c1-5`,
    prints: "/dev/pts\nlocked\n124\ntrapped\nnice\nsession\n/tmp/\n",
    needs: ["script", "flock"],
  },
];

const startedBy: readonly StartedBy[] = ["root", "an ordinary user"];

describe.each(startedBy)("in a sandbox started by %s", (who) => {
  const obstacle = cannotStartAs(who);
  let server: LocalServer;
  let client: SandboxClient;
  let sandbox: Sandbox;

  beforeAll(async () => {
    if (obstacle !== undefined) return;
    server = await startLocalServer({ who, args: ["--pool", "0", "--memory-mb", "2048"] });
    client = new SandboxClient({ apiKey: server.apiKey, baseUrl: server.url });
    sandbox = await client.sandboxes.create({ template: "code-interpreter" });
  });

  afterAll(async () => {
    await client?.close();
    await server?.stop();
  });

  test.for(programs.map((program) => [program.name, program] as const))(
    "%s works",
    { timeout: 300_000 },
    async ([, { script, prints, needs }], { skip }) => {
      skip(obstacle !== undefined, obstacle);
      const run = (code: string) => sandbox.execute(code, { language: "bash", timeoutSeconds: 240 });
      const { exitCode } = await run(`command -v ${needs.join(" ")} | wc -l | grep -qx ${needs.length}`);
      skip(exitCode !== 0, `this host lacks one of: ${needs.join(", ")}`);
      const { stdout, stderr } = await run(`cd "$(mktemp -d)" && ${script}`);
      expect({ stdout, stderr: stdout === prints ? "" : stderr }).toEqual({ stdout: prints, stderr: "" });
    },
  );
});

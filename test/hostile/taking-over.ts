import { isSandboxError, type Sandbox } from "cloud-sandbox";
import { expect } from "vitest";
import { killAgent } from "../support/sandbox-agent.js";
import { type Attack, bash, python } from "./attack.js";
import {
  findAgents,
  impostor,
  listIdentities,
  lookForSockets,
  raceToInspector,
  reachIntoMemory,
  takeUids,
} from "./programs.js";

const { node_builtin_shareable_builtins: included = [] } = process.config.variables as {
  readonly node_builtin_shareable_builtins?: readonly string[];
};
/** Debian's Node.js, and no other, has some of its own modules in files. */
const partsOfNode = included.includes("deps/undici/undici.js")
  ? ""
  : "$(find /usr/share/nodejs -name '*.js' 2>/dev/null | head -n 1)";

/** Attempts to control the agent, or to answer in its place. */
export const takingOver: readonly Attack[] = [
  {
    name: "open the agent's inspector by a signal",
    async attempt({ sandbox }) {
      const { stdout } = await bash(
        sandbox,
        `listening() { awk '$4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6 | sort; }
before=$(listening)
for attempt in 1 2 3; do
  kill -USR1 $PPID; kill -USR1 1; AGENT=$PPID node -e 'process._debugProcess(Number(process.env.AGENT))'
  sleep 0.3
  [ "$(listening)" = "$before" ] || listening
done 2>/dev/null
for port in 9229 9777; do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && echo "REACHED $port"; done
echo tried`,
      );
      expect(stdout).toBe("tried\n");
      return "nothing listens";
    },
  },
  {
    name: "open the agent's inspector while it boots",
    async attempt({ sandbox }) {
      await sandbox.files.write("/workspace/race.py", `${findAgents}${raceToInspector}`);
      await bash(sandbox, "setsid nohup python3 race.py >/dev/null 2>race.err &");
      await expect.poll(() => sandbox.files.exists("/workspace/racing"), patience).toBe(true);
      await killAgent(sandbox);
      await expect.poll(() => outcome(bash(sandbox, "cat race.txt")), patience).toContain("reached []");
      expect((await bash(sandbox, "cat race.txt race.err")).stdout).toMatch(
        /^agents (?:[2-9]|\d\d+), reached \[\]\n$/,
      );
      return "nothing listens at any moment of a start";
    },
  },
  {
    name: "debug anything but its own programs",
    async attempt({ sandbox }) {
      const { stdout } = await bash(
        sandbox,
        `node --inspect=127.0.0.1:9229 -e 'setTimeout(() => {}, 60000)' 2>inspected & own=$!
until grep -q listening inspected; do sleep 0.05; done
node -e 'fetch("http://127.0.0.1:9229/json").then((answer) => answer.json()).then(([found]) => console.log(found.title))'
kill $own; node -e 'require("node:inspector").open(0); console.log("opened")' 2>/dev/null`,
      );
      expect(stdout).toMatch(/^(\/\S*)?node\[\d+\]\nopened\n$/);
      return "its own can be debugged as anywhere";
    },
  },
  {
    name: "read and change the agent's memory",
    async attempt({ sandbox }) {
      const { stdout, stderr } = await python(sandbox, reachIntoMemory);
      expect(stderr).toBe("");
      expect(stdout).not.toContain("DONE");
      expect(stdout.match(/refused/g)?.length).toBe(40);
      return "every one refused";
    },
  },
  {
    name: "have the agent's descriptors passed on",
    async attempt({ sandbox }) {
      const { stdout, stderr } = await python(sandbox, lookForSockets);
      expect(stderr).toBe("");
      expect(stdout).toBe("[] []\n");
      return "none can be duplicated, and none was inherited";
    },
  },
  {
    name: "become the agent by configuring its OpenSSL",
    async attempt(target) {
      const { sandbox } = target;
      await bash(
        sandbox,
        `for place in /etc/ssl /usr/lib/ssl /usr/local/ssl /etc/pki/tls /usr/local/lib/ssl; do
  mkdir -p $place; rm -f $place/openssl.cnf; printf '%s\\n' 'openssl_conf = x' 'nodejs_conf = x' '[x]' 'engines = y' '[y]' 'z = z' '[z]' 'dynamic_path = /workspace/evil.so' 'init = 1' > $place/openssl.cnf
done; echo > evil.so`,
      );
      await startsAnew(target);
      return "started anew with a configuration of its own";
    },
  },
  {
    name: "become the agent by the environment of its restart",
    async attempt(target) {
      const { sandbox } = target;
      const spy = `if (process.argv[1]?.includes("cloud-sandbox/agent")) require("fs").writeFileSync("/workspace/TAKEN", "")`;
      await sandbox.files.write("/workspace/spy.cjs", spy);
      await sandbox.files.write(
        "/workspace/.cloud-sandbox.env",
        "NODE_OPTIONS=--require=/workspace/spy.cjs\n",
      );
      await sandbox.env.merge({
        NODE_OPTIONS: "--require=/workspace/spy.cjs",
        LD_PRELOAD: "/workspace/spy.so",
        LD_LIBRARY_PATH: "/workspace",
        OPENSSL_CONF: "/workspace/openssl.cnf",
        ENV: "/workspace/profile",
        BASH_ENV: "/workspace/profile",
        CLOUD_SANDBOX_AGENT_CONFIG: "{}",
      });
      await bash(
        sandbox,
        `echo 'touch /workspace/TAKEN-$$' > profile
for place in /etc/environment /etc/profile /etc/bash.bashrc ~/.profile ~/.bashrc ~/.noderc /node.config.json; do
  printf 'export NODE_OPTIONS=--require=/workspace/spy.cjs LD_PRELOAD=/workspace/spy.so\\n' > $place
done
for place in / /opt /workspace /home/sandbox /tmp; do echo '{ "type": ' > $place/package.json; done; true`,
      );
      await startsAnew(target);
      expect(await sandbox.files.exists("/workspace/TAKEN")).toBe(false);
      return "its environment is its own";
    },
  },
  {
    name: "become the agent by replacing what it is made of",
    async attempt(target) {
      const { sandbox } = target;
      const { stdout } = await bash(
        sandbox,
        `printf '#!/bin/sh\necho IMPOSTOR\n' > /tmp/impostor; chmod +x /tmp/impostor
for program in node sh dash setpriv; do cp -f /tmp/impostor /usr/bin/other; mv -f /usr/bin/other "$(readlink -f /usr/bin/$program)"; done
for library in /usr/lib/*/lib{stdc++,cap-ng,dl}.so.* /usr/lib64/lib{stdc++,cap-ng,dl}.so.*; do [ -e $library ] && echo broken > /usr/lib/broken && mv -f /usr/lib/broken "$library"; done
for place in /opt/cloud-sandbox/agent/main.cjs /opt/cloud-sandbox/loader /opt/cloud-sandbox/init /opt/cloud-sandbox/openssl.cnf /etc/ld.so.preload /etc/nsswitch.conf ${partsOfNode}; do
  { echo x >> $place || mv -f /tmp/impostor $place || rm -f $place; } 2>/dev/null && echo "DONE $place"
done; true`,
      );
      expect(stdout).toBe("");
      await startsAnew(target);
      return "started anew from what cannot be changed";
    },
  },
  {
    name: "have what starts the init read a locale of its own",
    async attempt({ sandbox }) {
      // A named pipe, on which the agent would wait forever. The first program that the agent starts removes the pipe.
      await bash(
        sandbox,
        `mkdir -p ~/.local/bin; archive=/usr/lib/locale/locale-archive real=$(type -P mkfifo)
printf '#!/bin/sh\nrm -f %s\nexec %s "$@"\n' $archive $real > ~/.local/bin/mkfifo; chmod 755 ~/.local/bin/mkfifo
rm -f $archive; $real $archive`,
      );
      await sandbox.stop();
      await sandbox.start();
      expect((await bash(sandbox, "ls /usr/lib/locale/locale-archive 2>&1; echo $LANG")).stdout).toMatch(
        /No such file.*\nC\.UTF-8\n$/,
      );
      return "it reads none";
    },
  },
  {
    name: "have the agent run a program in its place",
    async attempt(target) {
      const { sandbox, agentIsApart, codeIsRoot } = target;
      const kill = agentIsApart ? "kill -9 $PPID && echo DONE >> /workspace/ran/killed" : "true";
      const names = ["mkfifo", "python3", "node", "tar", "find", "true", "bash"];
      await bash(
        sandbox,
        `mkdir -p ~/.local/bin ran
for name in ${names.join(" ")}; do
  real=$(type -P $name)
  printf '#!/bin/sh\\n/bin/grep -hE "^(Uid|Cap(Inh|Prm|Eff|Amb))" /proc/self/status > /workspace/ran/%s\\n${kill}\\nexec %s "$@"\\n' $name $real > ~/.local/bin/$name
  chmod 755 ~/.local/bin/$name
done`,
      );
      await startsAnew(target);
      await sandbox.execute("print(1)", { language: "python" });
      await sandbox.execute("console.log(1)", { language: "javascript" });
      await sandbox.stop();
      await sandbox.start();
      const { stdout } = await bash(sandbox, "cd ran && for name in *; do echo $name; sort $name; done");
      for (const name of ["mkfifo", "python3", "node"]) expect(stdout).toContain(`${name}\n`);
      const told = new Set(
        stdout
          .replaceAll("\t", " ")
          .split("\n")
          .filter((line) => !names.includes(line)),
      );
      expect(told).toEqual(
        new Set([
          "",
          codeIsRoot ? "Uid: 0 0 0 0" : "Uid: 1000 1000 1000 1000",
          ...["Inh", "Prm", "Eff", "Amb"].map(
            (set) => `Cap${set}: ${codeIsRoot ? "00000000000004fb" : "0".repeat(16)}`,
          ),
        ]),
      );
      return "they run as the code does, with no other capability";
    },
  },
  {
    name: "have the agent take something else for the pipes that it asks for",
    async attempt({ sandbox }) {
      await bash(sandbox, "mkdir -p ~/.local/bin");
      for (const made of [': > "$path"', 'ln -s /dev/ptmx "$path"', 'ln -s /proc/self/maps "$path"']) {
        await sandbox.files.write("/workspace/mkfifo", `#!/bin/sh\nshift 2\nfor path; do ${made}; done\n`);
        await bash(sandbox, "cp mkfifo ~/.local/bin/mkfifo; chmod 755 ~/.local/bin/mkfifo");
        await sandbox.stop();
        await sandbox.start();
        for (let call = 0; call < 3; call += 1)
          expect((await bash(sandbox, "echo served")).stdout).toBe("served\n");
      }
      return "it takes pipes only, and without any its programs write to sockets";
    },
  },
  {
    name: "run anything as somebody else",
    async attempt({ sandbox, isRoot, codeIsRoot }) {
      await using terminal = await sandbox.terminal.open();
      await terminal.write("sleep 60\n");
      const background = await sandbox.executeBackground("sleep 60", { language: "bash" });
      for (const language of ["python", "javascript"] as const) await sandbox.execute("1", { language });
      const { stdout } = await python(sandbox, `${findAgents}${listIdentities(codeIsRoot)}`);
      await background.kill();
      expect(stdout).toBe(isRoot ? "[]\nagents [1]\n" : "[]\nagents [0]\n");
      return isRoot
        ? "all but the init and the agent have the code's uid"
        : "there is one uid, and no capability";
    },
  },
  {
    name: "stop the agent, so that callers wait for ever",
    async attempt({ sandbox, agentIsApart }) {
      const line = "kill -STOP $PPID && sleep 50; echo refused";
      const started = performance.now();
      const calls = [line, agentIsApart ? "true" : "sleep 50"].map((code) =>
        outcome(bash(sandbox, code, 60)),
      );
      expect((await Promise.all(calls))[0]).toContain(agentIsApart ? "refused" : "was restarted");
      const took = `${Math.round(performance.now() - started)} ms`;
      if (agentIsApart) return `refused, after ${took}`;
      const stopLater = 'setsid sh -c "sleep 0.2; kill -STOP $PPID; touch stopped" >/dev/null 2>&1 &';
      await bash(sandbox, stopLater);
      await expect.poll(() => outcome(bash(sandbox, "ls stopped", 60)), patience).toBe("stopped\n");
      return `the agent starts anew, what it was doing fails as EXECUTION_INTERRUPTED after ${took}`;
    },
  },
  {
    name: "starve the agent, or bind it",
    async attempt({ sandbox, agentIsApart }) {
      const { stdout } = await bash(
        sandbox,
        `for pid in $PPID 1; do
  renice 19 $pid || echo refused; taskset -p 1 $pid || echo refused; chrt -i -p 0 $pid || echo refused
  ionice -c 3 -p $pid || echo refused; prlimit --nofile=0 --pid $pid || echo refused
done 2>/dev/null | grep refused`,
      );
      if (agentIsApart) expect(stdout).toBe("refused\n".repeat(10));
      expect((await bash(sandbox, "echo served")).stdout).toBe("served\n");
      return agentIsApart
        ? "every one refused"
        : "its limits cannot be set; what has one uid may slow itself down";
    },
  },
  {
    name: "plant something in the agent's own state",
    async attempt(target) {
      const { sandbox } = target;
      await sandbox.env.merge({ KEPT: "kept" });
      await bash(
        sandbox,
        `mkdir -p victim; cd /tmp; for state in .cloud-sandbox-state; do
  for name in $(ls $state) jobs.json; do rm -rf "$state/$name"; ln -s /workspace/victim/x "$state/$name"; done; mkfifo $state/pipe
done; for pipes in .cloud-sandbox-??????; do rm -rf $pipes; ln -s /workspace/victim $pipes; done`,
      ).catch(() => undefined);
      await startsAnew(target);
      await bash(
        sandbox,
        "mv /tmp/.cloud-sandbox-state /tmp/old; ln -s /workspace/victim /tmp/.cloud-sandbox-state",
      );
      await sandbox.env.merge({ MORE: "more" });
      await startsAnew(target);
      await sandbox.env.merge({ MOST: "most" });
      expect((await bash(sandbox, "ls -A victim")).stdout).toBe("");
      return "it follows no link and waits for no pipe";
    },
  },
  {
    name: "take on the agent's uid",
    async attempt({ sandbox, codeIsRoot }) {
      const { stdout, stderr } = await python(sandbox, takeUids);
      expect(stderr).toBe("");
      if (codeIsRoot) {
        expect(stdout).toMatch(/(set\w+ DONE\n){7}(\w+ refused\n){4}$/);
        return "it is root already; a further user namespace is refused";
      }
      expect(stdout).not.toContain("DONE");
      expect(stdout.match(/refused/g)?.length).toBe(11);
      return "every one refused, a further user namespace too";
    },
  },
  {
    name: "kill the agent and answer in its place",
    async attempt(target) {
      const { sandbox, agentIsApart } = target;
      const before = await sandbox.system.health();
      await sandbox.files.write("/workspace/impostor.py", impostor);
      const pretend = () => bash(sandbox, "setsid nohup python3 /workspace/impostor.py >/dev/null 2>&1 &");
      await pretend();
      const wait = agentIsApart ? "echo refused" : "sleep 5";
      for (const attempt of ["kill -9 $PPID", "kill -9 1; kill -9 -1"]) {
        const killed = await outcome(bash(sandbox, `${attempt}; ${wait}`));
        expect(killed).toContain(agentIsApart ? "refused" : "was restarted");
        await pretend();
      }
      await startsAnew(target);
      const after = await bash(sandbox, "echo served by the agent");
      expect(after.stdout).toBe("served by the agent\n");
      expect(await sandbox.system.health()).toMatchObject({ healthy: true, version: before.version });
      return agentIsApart
        ? "refused"
        : "the running call fails as EXECUTION_INTERRUPTED, and the agent is back";
    },
  },
];

const patience = { timeout: 60_000 };

/** Kills the agent, and checks that the agent that is started in its place answers in the same way. */
async function startsAnew({ sandbox }: { readonly sandbox: Sandbox }): Promise<void> {
  const { version } = await sandbox.system.health();
  await killAgent(sandbox);
  await expect.poll(() => outcome(bash(sandbox, "echo served")), patience).toBe("served\n");
  expect(await sandbox.system.health()).toMatchObject({ healthy: true, version });
}

/** The output of a call, or the message of its error. */
export async function outcome(call: Promise<object>): Promise<string> {
  try {
    const result = await call;
    return "stdout" in result ? String(result.stdout) : "done";
  } catch (error) {
    if (isSandboxError(error)) return error.message;
    throw error;
  }
}

import { expect } from "vitest";
import { type Attack, bash, python } from "./attack.js";

/** What only an owner of the file system may do: freeze, trim, shut down, resize, and make a file that cannot be deleted. */
const fileSystemCalls = `
import array, fcntl, os, struct
place = os.open("/data", os.O_RDONLY)
file = os.open("/data/file", os.O_RDONLY)
for name, where, number, argument in (
    ("freeze", place, 0xC0045877, b"\\0" * 4),
    ("trim", place, 0xC0185879, struct.pack("QQQ", 0, 2**63, 0)),
    ("shut down", place, 0x8004587D, struct.pack("I", 1)),
    ("resize", place, 0x40086610, struct.pack("Q", 2**30)),
    ("immutable", file, 0x40086602, struct.pack("Q", 0x10)),
):
    try:
        fcntl.ioctl(where, number, bytearray(argument))
        print("DONE:", name)
    except OSError:
        pass
print("tried")`;

const programs = `
try() { "$@" >/dev/null 2>&1 && echo "DONE: $*"; }
cp /usr/bin/id /data/id && chmod 6755 /data/id
try umount /data
try umount -l /data
try mount -o remount,rw,suid,dev /data
try mount --bind / /data
try mount -o remount,rw /
try mknod /data/disk b 7 0
try mknod /data/memory c 1 1
try chown 0 /data/id
try setpriv --reuid 0 true
try ln /etc/passwd /data/passwd
try dd if=/dev/loop0 of=/dev/null bs=1 count=1
try ls /data/../data/lost+found
echo tried`;

/** Attempts through what is mounted in sandboxes. */
export const mounting: readonly Attack[] = [
  {
    name: "gain rights through a volume, or take it from the others that mount it",
    async attempt({ client, isRoot }) {
      const name = "of-the-hostile";
      const creating = client.volumes.create(name, { sizeMb: 16 });
      if (!isRoot) {
        await expect(creating).rejects.toMatchObject({ code: "VOLUMES_UNAVAILABLE" });
        return "this server has none";
      }
      const volume = await creating;
      const mounted = (readOnly: boolean) =>
        client.sandboxes.create({
          template: "code-interpreter",
          mounts: { "/data": { volume: volume.id, readOnly } },
        });
      try {
        await using writer = await mounted(false);
        await using reader = await mounted(true);
        await bash(writer, "echo kept > /data/file");
        for (const sandbox of [writer, reader]) {
          expect((await bash(sandbox, programs)).stdout).toBe("tried\n");
          expect((await python(sandbox, fileSystemCalls)).stdout).toBe("tried\n");
        }
        // The program is set-uid: of root, if the volume's uids were not mapped.
        expect((await bash(reader, "/data/id -u; id -u")).stdout).toMatch(/^(\d+)\n\1\n$/);
        expect((await bash(reader, "rm -rf /data/file /data/id; touch /data/made; ls /data")).stdout).toBe(
          "file\nid\n",
        );
        await bash(writer, "head -c 64M /dev/zero > /data/much; touch /data/{1..9999}");
        expect((await bash(reader, "cat /data/file")).stdout).toBe("kept\n");
        expect((await client.volumes.get(name)).usedBytes).toBeLessThanOrEqual(16 * 2 ** 20);
      } finally {
        await client.volumes.delete(volume.id);
      }
      return "every one refused, and no byte more than its size";
    },
  },
];

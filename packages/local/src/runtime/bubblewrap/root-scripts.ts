/** tar options that keep extended attributes: the overlay's mark on a directory that hides a lower one, and users' own attributes. */
export const keptAttributes = [
  "--xattrs",
  "--xattrs-include=trusted.overlay.opaque",
  "--xattrs-include=user.*",
];

/**
 * Refuses paths longer than the kernel takes: tar can pack them and cannot unpack them. `cut` leaves something of a line only
 * if it is too long; `grep -E '.{4000}'` would need seconds of CPU time for such lines.
 */
export const readScript = `cd "$1" || exit
if find root usr workspace home copies -printf '%p\\n' | LC_ALL=C cut -b 4000- | LC_ALL=C grep -q .; then
  echo "the path of a file in it is longer than 4000 bytes; remove the file, or move it up, first" >&2
  exit 1
fi
shift
exec "$@"
`;

export const mountScript = `set -e
# Keep the list of mounts on a tmpfs of its own until mount has read it: restored files may fill the machine's disk.
mount -t tmpfs -o size=256k tmpfs "$MACHINE_PLACE"
printf '%s\\n' "$MACHINE_MOUNTS" > "$MACHINE_PLACE/mounts"
exec 9< "$MACHINE_PLACE/mounts"
umount --lazy "$MACHINE_PLACE"
mount -t tmpfs -o "$MACHINE_SIZE" tmpfs "$MACHINE_PLACE"
cd "$MACHINE_PLACE"
owner=$MACHINE_OWNER
mapped=$MACHINE_MAPPED
install -d -o "$owner" -g "$owner" $MACHINE_DIRECTORIES
if [ -n "$MACHINE_DISK" ]; then
  owners=--no-same-owner
  [ -z "$mapped" ] || owners="--same-owner --numeric-owner"
  tar --extract --blocking-factor=512 --preserve-permissions $owners --delay-directory-restore ${keptAttributes.join(" ")} < "$MACHINE_DISK"
  if [ -z "$mapped" ]; then chown -hR "$owner:$owner" root usr workspace home copies
  # Files of a machine without root inside have uids that this one has not.
  else find root usr workspace home copies "(" -uid +65535 -o -gid +65535 ")" -exec chown -h 0:0 {} +
  fi
fi
[ -z "$mapped" ] || perl -e "$MACHINE_MAPPER"
mount -a -T /proc/self/fd/9
exec 9<&-
keep=$MACHINE_KEEP
layer=$MACHINE_LAYER
# Copy /workspace and home from the topmost layer only, which contains the files of all lower layers. A second copy would
# follow links of the first, which may lead to the host.
if [ -n "$layer" ] && [ -z "$MACHINE_DISK" ]; then
  for part in workspace home; do
    # Copy from inside the directory, so that no command line shows its path.
    (cd "$layer/$part"; [ -z "$(ls -A)" ] || cp -a . "$MACHINE_PLACE/$part/")
  done
  [ -n "$mapped" ] || chown -hR "$owner:$owner" workspace home
fi
[ -z "$MACHINE_MOUNTER" ] || perl -e "$MACHINE_MOUNTER"
unset MACHINE_PLACE MACHINE_SIZE MACHINE_OWNER MACHINE_DIRECTORIES MACHINE_MOUNTS MACHINE_KEEP MACHINE_LAYER MACHINE_DISK
unset MACHINE_MAPPED MACHINE_MAPPER MACHINE_ARCHITECTURE MACHINE_MOUNTER MACHINE_VOLUMES
`;

/**
 * For ordinary users. Leaves others some of the user's 128 instances of inotify, which all machines and the user's own programs
 * share. Mounts the `/proc` of a new process namespace, because an ordinary user may mount no other. The mount outlives
 * the namespace.
 */
export const procScript = `echo 32 > /proc/sys/user/max_inotify_instances
unshare --pid --fork mount -t proc -o ro,nosuid,nodev,noexec proc proc
`;

export const becomeScript = `cd /
exec "$@"
`;

/**
 * Copies the machine's files to the layer once no process of the machine is left to change them. Every uid may write to the
 * copies, because the next machine has another uid, and they belong to root, so that root inside can change them. With root
 * inside, they are stored with the owners that the machine sees, and keep their modes except set-uid and set-gid. The script
 * syncs the copies to the disk, so a template that is ready survives a power cut. It copies by relative paths, because the
 * files' paths may be nearly as long as the kernel takes, and to a descriptor, because all users of the host can read
 * command lines.
 */
export const keepScript = `set +e
"$@" &
# Close the descriptors: readers at their other ends wait until no process holds them.
exec 3>&- 4>&- 5>&- 6>&- 7>&-
wait $!
code=$?
[ -d "$keep" ] || exit "$code"
# Remove the agent's own files, which contain this machine's variables. Use find, because root/tmp may be a link to a
# place on the host by now.
find root/tmp -maxdepth 1 -name '.cloud-sandbox*' -exec rm -rf {} +
if [ -n "$mapped" ]; then find root usr workspace home -type f -perm /6000 -exec chmod ug-s {} +
else chmod -R a+rwX root usr && chown -hR 0:0 root usr workspace home
fi && find workspace home -type d ! -perm -u=rwx -exec chmod u+rwx {} + && exec 8< "$keep" &&
  cp -a root usr workspace home /proc/self/fd/8/ && sync -f /proc/self/fd/8
`;

{
  const read = (size) => {
    const data = Buffer.alloc(size);
    for (let at = 0; at < size; ) at += require("node:fs").readSync(3, data.subarray(at)) || process.exit();
    return data;
  };
  require("node:vm").runInThisContext(read(read(4).readUInt32BE()).toString(), "[eval]");
}

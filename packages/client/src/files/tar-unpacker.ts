/** A module of its own, so that bundlers leave out the rest of the package. */
export { unpackTar } from "modern-tar/fs";

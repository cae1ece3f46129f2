/** A module of its own, so that bundlers leave out the rest of the package. */
export { createTarPacker } from "modern-tar";

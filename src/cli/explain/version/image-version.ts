/** Returns the tag of an image, which is the version of what it holds; undefined: it has only a digest. */
export function imageVersion(image: string): string | undefined {
  return /:([\w][\w.-]*)(?:@|$)/.exec(image.slice(image.lastIndexOf('/') + 1))?.[1];
}

/** Returns whether the major or minor version is higher than the other. False if one of them is no version. */
export function isNewerMinor(version: string, other: string): boolean {
  const [[major, minor], [otherMajor, otherMinor]] = [partsOf(version), partsOf(other)];
  return major > otherMajor || (major === otherMajor && minor > otherMinor);
}

function partsOf(version: string): readonly [major: number, minor: number] {
  const [, major = NaN, minor = NaN] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return [Number(major), Number(minor)];
}

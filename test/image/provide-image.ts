import process from 'node:process';
import { missingPackages } from '../planes/missing-packages.ts';
import type { Provision } from '../planes/real/build.ts';
import { provideForSuite, warnIfMissing } from '../planes/real/provide-real-plane.ts';

/** Reports whether this machine can build images, for suites that need one. Like `provideForSuite`, which can also turn them off. */
export async function provideImageForSuite(suite: string): Promise<Provision<never>> {
  const lacking = missingHere();
  if (lacking === undefined) return provideForSuite(suite, []);
  return warnIfMissing(suite, { state: 'missing', reason: 'unsuitable-machine', message: lacking });
}

/** Returns why images cannot be built, and what to do about it. */
function missingHere(): string | undefined {
  if (process.platform !== 'linux') return `building images needs Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'building images needs root, for namespaces and mounts';
  const packages = missingPackages({ buildah: 'buildah', runc: 'runc', unshare: 'util-linux', setpriv: 'util-linux' });
  if (packages.length === 0) return undefined;
  return `building images needs missing programs: apt-get install ${packages.join(' ')}`;
}

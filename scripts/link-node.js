// Links node_modules/.bin/node to the Node.js of the lockfile; npm runs this after every installation. npm 11 makes the same link. npm 10
// removes it again, together with the links of the packages for other platforms, which it has not installed. Runs on any Node.js.
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath, URL } from 'node:url';

const holder = `node-${process.platform}-${process.arch}`;
const modules = fileURLToPath(new URL('../node_modules/', import.meta.url));
const link = `${modules}.bin/node`;
if (existsSync(`${modules}${holder}/bin/node`)) {
  rmSync(link, { force: true });
  symlinkSync(`../${holder}/bin/node`, link);
}

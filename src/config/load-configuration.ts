import { readFile } from 'node:fs/promises';
import { ConfigurationError } from './configuration-error.ts';
import type { KnownPlugin } from './known-plugin.ts';
import { parseConfiguration } from './parse-configuration.ts';
import type { ParsedConfiguration } from './parse-configuration.ts';

/**
 * Reads a KubeSchedulerConfiguration from a YAML or JSON file. Rejects with ConfigurationError if anything is wrong, including a
 * missing file.
 */
export async function loadConfiguration(file: string, own: readonly KnownPlugin[] = []): Promise<ParsedConfiguration> {
  return parseConfiguration(file, await readConfigurationFile(file), own);
}

/** Returns the text of a configuration file. Rejects with ConfigurationError. */
export async function readConfigurationFile(file: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const text =
      code === 'ENOENT'
        ? 'the file does not exist'
        : code === 'EACCES'
          ? 'this user may not read the file'
          : code === 'EISDIR'
            ? 'it is a folder: set the path of a file'
            : `it cannot be read: ${message}`;
    throw unreadable(file, text, error);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw unreadable(file, 'it is not UTF-8 text', error);
  }
}

function unreadable(file: string, text: string, cause: unknown): ConfigurationError {
  return new ConfigurationError(file, [{ file, line: 0, column: 0, path: [], text }], { cause });
}

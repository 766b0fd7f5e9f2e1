import { readFile } from 'node:fs/promises';
import { ConfigurationError } from './configuration-error.ts';
import type { KnownPlugin } from './known-plugin.ts';
import { parseConfiguration } from './parse-configuration.ts';
import type { ParsedConfiguration } from './parse-configuration.ts';

/**
 * Reads the KubeSchedulerConfiguration in a file of YAML or JSON. Rejects with ConfigurationError for everything that is wrong with it,
 * also when there is no such file.
 */
export async function loadConfiguration(file: string, own: readonly KnownPlugin[] = []): Promise<ParsedConfiguration> {
  return parseConfiguration(file, await readConfigurationFile(file), own);
}

/** The text of a configuration file. Rejects with ConfigurationError. */
export async function readConfigurationFile(file: string): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const text =
      code === 'ENOENT'
        ? 'there is no such file'
        : code === 'EACCES'
          ? 'this user may not read it'
          : code === 'EISDIR'
            ? 'it is a folder; name the file in it'
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

import type { Command, Option } from 'commander';
import type { Commands } from '../../src/cli/program.ts';
import { createProgram } from '../../src/cli/program.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { code, codes, madeFrom, table } from './markdown.ts';
import { sourceTexts } from './source-texts.ts';

const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'all went well; a process was told to end by SIGTERM or SIGINT',
  failed:
    'the command could not be carried out, or the process lost the leader election; the reason is on standard error',
  usage: 'wrong flags or arguments',
  partialStart: '`up --exit`: a group was partly started, or there was a deadlock',
  incomplete: '`up --exit`: nothing was partly started, but not everything started, or the time ran out',
};

/** Environment variable -> what it does. Those that a credential plug-in of a kubeconfig reads are its own. */
const environmentVariables: Readonly<Record<string, string>> = {
  KUBECONFIG: 'kubeconfig files, with colons between, where there is no `--kubeconfig`; merged as kubectl does',
  KUBERNETES_SERVICE_HOST: 'set in pods: without any kubeconfig the service account of the pod is used',
  NO_COLOR: '`up`: no colours, whatever it is set to',
  TERM: '`up`: with `dumb` there is one line for each thing that happens, and no picture',
};

const never: Commands = {
  up: () => Promise.reject(new Error('not run')),
  scheduler: () => Promise.reject(new Error('not run')),
  controller: () => Promise.reject(new Error('not run')),
  configCheck: () => Promise.reject(new Error('not run')),
  verify: () => Promise.reject(new Error('not run')),
};

/** Markdown, of every command with every flag. Throws when the sources read a variable that is not told here, or do not read one that is. */
export async function commandsPage(): Promise<string> {
  await mustTellAllVariables();
  const program = createProgram(never, () => undefined);
  const commands = leaves(program, '').filter(({ command }) => command !== program);
  return [
    '# Commands',
    '',
    madeFrom('the commands themselves'),
    '',
    table(
      ['command', 'what it does'],
      commands.map(({ name, command }) => [`[\`${name}\`](#${anchor(name)})`, command.description()]),
    ),
    '',
    'Flags are given as `--flag value` or `--flag=value`. Durations are written as in Go: `500ms`, `15s`, `1m30s`. Every command has `-h` and `--help`; `tutti --version` prints the version.',
    '',
    ...commands.flatMap(({ name, command }) => [`## ${name}`, '', ...commandSection(name, command), '']),
    '## Environment',
    '',
    table(
      ['variable', 'what it does'],
      Object.entries(environmentVariables).map(([name, what]) => [code(name), what]),
    ),
    '',
    '## Exit codes',
    '',
    table(
      ['code', 'when'],
      [
        ...(Object.keys(exitCodes) as (keyof typeof exitCodes)[]).map((name) => [
          String(exitCodes[name]),
          exitCodeMeanings[name],
        ]),
        ['130, 143', 'SIGINT or SIGTERM ended it before its work was done'],
      ],
    ),
    '',
  ].join('\n');
}

async function mustTellAllVariables(): Promise<void> {
  const texts = await sourceTexts();
  const read = new Set(
    texts.flatMap((text) => [...text.matchAll(/\benv(?:ironment)?\.([A-Z_]+)/g)].map(([, name]) => name!)),
  );
  const wrong = [...read].filter((name) => !Object.hasOwn(environmentVariables, name));
  wrong.push(...Object.keys(environmentVariables).filter((name) => !read.has(name)));
  if (wrong.length > 0) throw new Error(`commands-page.ts and the sources do not agree on ${wrong.join(', ')}`);
}

interface NamedCommand {
  readonly name: string;
  readonly command: Command;
}

function leaves(command: Command, parents: string): NamedCommand[] {
  const name = `${parents} ${command.name()}`.trim();
  if (command.commands.length === 0) return [{ name, command }];
  return command.commands.flatMap((inner) => leaves(inner, name));
}

/** As GitHub makes them of headings. */
function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

function commandSection(name: string, command: Command): string[] {
  const usage = command.registeredArguments.map((argument) =>
    `${argument.name()}${argument.variadic ? '...' : ''}`.toUpperCase(),
  );
  return [
    command.description(),
    '',
    code([name, '[flags]', ...usage].join(' ')),
    '',
    ...command.registeredArguments.flatMap((argument) => [
      `${code(argument.name().toUpperCase())}: ${argument.description}.`,
      '',
    ]),
    table(['flag', 'default', 'what it does'], command.options.map(flagRow)),
  ];
}

/** Where a default is not the parser's, the description ends in it. */
const defaultInWords = / \(default: ([^()]*(?:\([^()]*\))?[^()]*)\)$/;

function flagRow(option: Option): string[] {
  const { flags, description, argChoices } = option;
  const inWords = defaultInWords.exec(description)?.[1];
  const choices = argChoices === undefined ? '' : `: ${codes(argChoices)}`;
  return [code(flags), inWords ?? defaultOf(option), `${description.replace(defaultInWords, '')}${choices}`];
}

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  const value = defaultValueDescription ?? (defaultValue as string | number | boolean | undefined);
  return value === undefined ? '' : code(String(value));
}

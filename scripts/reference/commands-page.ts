import type { Command, Option } from 'commander';
import type { Commands } from '../../src/cli/program.ts';
import { createProgram } from '../../src/cli/program.ts';
import { commandExamples } from '../../src/cli/command-examples.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { code, codes, madeFrom, table } from './markdown.ts';
import { sourceTexts } from './source-texts.ts';

const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'The command succeeded, or SIGTERM or SIGINT ended a process that runs until then',
  failed: 'The command failed, or the process lost the leader election. The reason is on standard error',
  usage: 'Invalid flags or arguments',
  partialStart:
    '`up --exit`: a group was partially bound for more than a second or at the end, its pods started one by one because they lack its label, or there was a deadlock',
  incomplete:
    '`up --exit`, unless 3 applies: a pod was not scheduled, a group, Job or pod failed, or the timeout expired',
  no: 'The answer to the question is no',
};

/** Environment variable -> its effect, without the variables that a credential plugin of a kubeconfig reads. */
const environmentVariables: Readonly<Record<string, string>> = {
  KUBECONFIG: 'Kubeconfig files, separated by colons, if `--kubeconfig` is not set. Tutti merges them as kubectl does',
  KUBERNETES_SERVICE_HOST:
    'Kubernetes sets it in pods. Without a kubeconfig, Tutti uses the service account of the pod',
  NO_COLOR: '`up` and all lists: disables colors if it is not empty',
  TERM: 'With `dumb`, `up` prints one line per event instead of a live view, and lists have no colors',
};

const notRun = (): Promise<never> => Promise.reject(new Error('not run'));

const never: Commands = {
  up: notRun,
  scheduler: notRun,
  controller: notRun,
  configCheck: notRun,
  verify: notRun,
  status: notRun,
  why: notRun,
  plan: notRun,
  drainCheck: notRun,
  queue: notRun,
  snapshot: notRun,
  explain: notRun,
  version: notRun,
  timeline: notRun,
  ui: notRun,
  completion: notRun,
};

/** Returns the page in Markdown: every command with every flag. Throws if the sources and this file disagree on the environment variables. */
export async function commandsPage(): Promise<string> {
  await checkVariables();
  const program = createProgram(never, () => undefined);
  const commands = leaves(program, '').filter(({ command }) => command !== program);
  return [
    '# Commands',
    '',
    madeFrom('the commands'),
    '',
    table(
      ['Command', 'What it does'],
      commands.map(({ name, command }) => [`[\`${name}\`](#${anchor(name)})`, withoutPeriod(command.description())]),
    ),
    '',
    'Write flags as `--flag value` or `--flag=value`, and durations as in Go: `500ms`, `15s`, `1m30s`. Every command has `-h` and `--help`. `tutti --version` prints the version. [Endpoints](../endpoints.md) lists the flags of kube-scheduler that Tutti rejects.',
    '',
    ...commands.flatMap(({ name, command }) => [`## ${name}`, '', ...commandSection(name, command), '']),
    '## Environment variables',
    '',
    table(
      ['Variable', 'What it does'],
      Object.entries(environmentVariables).map(([name, what]) => [code(name), what]),
    ),
    '',
    '## Exit codes',
    '',
    table(
      ['Code', 'Meaning'],
      [
        ...(Object.keys(exitCodes) as (keyof typeof exitCodes)[]).map((name) => [
          String(exitCodes[name]),
          exitCodeMeanings[name],
        ]),
        ['130, 143', 'SIGINT or SIGTERM ended the command before its work was done'],
      ],
    ),
    '',
  ].join('\n');
}

async function checkVariables(): Promise<void> {
  const texts = await sourceTexts();
  const read = new Set(
    texts.flatMap((text) => [...text.matchAll(/\benv(?:ironment)?\.([A-Z_]+)/g)].map(([, name]) => name!)),
  );
  const wrong = [...read].filter((name) => !Object.hasOwn(environmentVariables, name));
  wrong.push(...Object.keys(environmentVariables).filter((name) => !read.has(name)));
  if (wrong.length > 0) throw new Error(`commands-page.ts and the sources disagree on ${wrong.join(', ')}`);
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

/** Returns the anchor that GitHub gives a heading. */
function anchor(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

function commandSection(name: string, command: Command): string[] {
  const flags = command.options.filter(({ hidden }) => !hidden);
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
    ...(flags.length === 0 ? [] : [table(['Flag', 'Default', 'What it does'], flags.map(flagRow)), '']),
    ...examplesSection(name.replace(/^tutti /, '')),
  ];
}

function examplesSection(command: string): string[] {
  const examples = Object.entries(commandExamples[command] ?? {});
  if (examples.length === 0) return [];
  const lines = examples.map(([purpose, commandLine]) => `# ${purpose}\n${commandLine}`);
  return ['Examples:', '', '```', lines.join('\n\n'), '```'];
}

function withoutPeriod(text: string): string {
  return text.replace(/\.$/, '');
}

/** A description ends with its default if the default is not the parser's. */
const defaultInWords = / \(default: ([^()]*(?:\([^()]*\))?[^()]*)\)$/;

function flagRow(option: Option): string[] {
  const { flags, description, argChoices } = option;
  const inWords = defaultInWords.exec(description)?.[1];
  const choices = argChoices === undefined ? '' : `: ${codes(argChoices)}`;
  return [
    code(flags),
    inWords ?? defaultOf(option),
    `${withoutPeriod(description.replace(defaultInWords, ''))}${choices}`,
  ];
}

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  const value = defaultValueDescription ?? (defaultValue as string | number | boolean | undefined);
  return value === undefined ? '' : code(String(value));
}

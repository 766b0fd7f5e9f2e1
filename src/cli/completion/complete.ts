import type { Argument, Command, Option } from 'commander';
import { directives } from './completion.ts';
import type { Candidate, Completion } from './completion.ts';

/** A kind of object whose names are completed. */
export type Completed = 'groupsAndPods' | 'nodes' | 'namespaces';

/** Where to look: the values of flags that are already on the command line. */
export interface CompletionScope {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly namespace?: string | undefined;
}

/** Returns the names of objects. Never rejects. */
export type LookUpNames = (kind: Completed, scope: CompletionScope) => Promise<readonly string[]>;

/** name of an argument -> the objects that it names */
const objectsOfArgument: Readonly<Record<string, Completed>> = { name: 'groupsAndPods', node: 'nodes' };
/** Parts of the value's name in the help that mean a path. */
const pathNames = new Set(['path', 'file']);

/**
 * Returns the candidates for the last of `words`, which may be empty. `words`: the command line without the program. Commands, flags and
 * their values come from `program`.
 */
export async function complete(words: readonly string[], program: Command, lookUp: LookUpNames): Promise<Completion> {
  // Bash makes three words of --flag=value.
  const before = words
    .slice(0, -1)
    .filter((each, index) => each !== '=' || words[index - 1]?.startsWith('--') !== true);
  const { command, scope, argumentsBefore, pendingOption } = read(before, program);
  const word = words.at(-1) ?? '';
  if (pendingOption !== undefined) return valuesOf(pendingOption, word, '', scope, lookUp);
  const cut = word.indexOf('=');
  if (word.startsWith('--') && cut > 0) {
    const option = command.options.find(({ long }) => long === word.slice(0, cut));
    const value = word.slice(cut + 1);
    return option === undefined ? nothing : valuesOf(option, value, word.slice(0, cut + 1), scope, lookUp);
  }
  if (word.startsWith('-')) return matching(flagsOf(command), word);
  if (command.commands.length > 0) return argumentsBefore > 0 ? nothing : matching(commandsOf(command), word);
  const argument = argumentAt(command, argumentsBefore);
  return argument === undefined ? nothing : valuesOfArgument(argument, program, word, scope, lookUp);
}

interface CommandLine {
  readonly command: Command;
  readonly scope: CompletionScope;
  readonly argumentsBefore: number;
  /** The last word is a flag without its value. */
  readonly pendingOption: Option | undefined;
}

const nothing: Completion = { candidates: [], directive: directives.noFiles };
const anyFile: Completion = { candidates: [], directive: directives.files };

/** Reads the words before the one that is completed. Unknown ones are skipped. */
function read(words: readonly string[], program: Command): CommandLine {
  let command = program;
  let argumentsBefore = 0;
  let pendingOption: Option | undefined;
  const values: Record<string, string> = {};
  for (const word of words) {
    if (pendingOption !== undefined) {
      values[pendingOption.attributeName()] = word;
      pendingOption = undefined;
    } else if (word.startsWith('-')) {
      const [name, value] = word.split('=', 2) as [string, string | undefined];
      const option = command.options.find(({ long, short }) => long === name || short === name);
      if (option === undefined || (!option.required && !option.optional)) continue;
      if (value === undefined) pendingOption = option;
      else values[option.attributeName()] = value;
    } else {
      const inner = command.commands.find((each) => each.name() === word);
      if (inner === undefined) argumentsBefore++;
      else command = inner;
    }
  }
  const { kubeconfig, context, namespace } = values;
  return { command, scope: { kubeconfig, context, namespace }, argumentsBefore, pendingOption };
}

function commandsOf(command: Command): readonly Candidate[] {
  return command.commands.map((each) => ({ text: each.name(), description: firstSentence(each.description()) }));
}

function flagsOf(command: Command): readonly Candidate[] {
  const visible = command.options.filter(({ hidden, long }) => !hidden && long !== undefined && long !== null);
  return visible.map(({ long, description }) => ({ text: long!, description: firstSentence(description) }));
}

function firstSentence(text: string): string {
  return text.split(/\.\s|\n|\.$/, 1)[0]!;
}

function argumentAt({ registeredArguments }: Command, index: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[index] ?? (last?.variadic === true ? last : undefined);
}

async function valuesOfArgument(
  argument: Argument,
  program: Command,
  word: string,
  scope: CompletionScope,
  lookUp: LookUpNames,
): Promise<Completion> {
  const name = argument.name();
  if (argument.argChoices !== undefined)
    return matching(
      argument.argChoices.map((text) => ({ text })),
      word,
    );
  if (name === 'command') return matching(commandsOf(program), word);
  if (pathNames.has(name)) return anyFile;
  return Object.hasOwn(objectsOfArgument, name) ? namesOf(objectsOfArgument[name]!, word, '', scope, lookUp) : nothing;
}

/** `before`: what precedes the value in the same word: `--output=`. */
async function valuesOf(
  option: Option,
  word: string,
  before: string,
  scope: CompletionScope,
  lookUp: LookUpNames,
): Promise<Completion> {
  if (option.argChoices !== undefined) {
    return matching(
      option.argChoices.map((text) => ({ text: before + text })),
      before + word,
    );
  }
  const value = /[<[]([\w-]+)/.exec(option.flags)?.[1] ?? '';
  if (pathNames.has(value)) return anyFile;
  return option.long?.endsWith('namespace') === true ? namesOf('namespaces', word, before, scope, lookUp) : nothing;
}

async function namesOf(
  kind: Completed,
  word: string,
  before: string,
  scope: CompletionScope,
  lookUp: LookUpNames,
): Promise<Completion> {
  const names = await lookUp(kind, scope);
  return matching(
    names.map((name) => ({ text: before + name })),
    before + word,
  );
}

function matching(candidates: readonly Candidate[], word: string): Completion {
  return { candidates: candidates.filter(({ text }) => text.startsWith(word)), directive: directives.noFiles };
}

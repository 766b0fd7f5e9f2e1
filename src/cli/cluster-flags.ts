import { Option } from 'commander';
import type { Command } from 'commander';
import { namespaceName, schedulerName } from './flag-values.ts';
import { colorModes } from './output/color.ts';
import type { ColorMode } from './output/color.ts';
import { outputFormats } from './output/serialize.ts';
import type { OutputFormat } from './output/serialize.ts';

/** Flags of every command that asks a cluster. */
export interface ConnectionFlags {
  /** Path. */
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Flags that choose objects. */
export interface NamespaceFlags {
  /** Absent: the namespace of the context. */
  readonly namespace?: string;
  readonly allNamespaces?: true;
}

export interface SelectorFlags {
  readonly selector?: string;
}

/** Flags that find the scheduler and its configuration. */
export interface SchedulerLookupFlags {
  readonly schedulerName?: readonly string[];
  readonly schedulerNamespace?: string;
}

/** Flags that choose how a list is printed. */
export interface PrintFlags {
  readonly output: OutputFormat;
  readonly headers: boolean;
  readonly color: ColorMode;
}

export function withConnectionFlags(command: Command): Command {
  return command
    .option(
      '--kubeconfig <path>',
      'Path to a kubeconfig file. (default: $KUBECONFIG, then ~/.kube/config, then the service account of the pod)',
    )
    .option('--context <name>', 'Context of the kubeconfig to use. (default: its current-context)');
}

export function withNamespaceFlags(command: Command): Command {
  return command
    .addOption(
      new Option('-n, --namespace <name>', 'Namespace. (default: that of the context)').argParser(namespaceName),
    )
    .option('-A, --all-namespaces', 'All namespaces. Overrides --namespace.');
}

export function withSelectorFlag(command: Command): Command {
  return command.option('-l, --selector <selector>', 'Only objects with these labels, such as team=a,tier!=test.');
}

export function withSchedulerLookupFlags(command: Command): Command {
  return command
    .option(
      '--scheduler-name <name>',
      'The scheduler of pods with this spec.schedulerName. Can be repeated. (default: those of the installed release, or tutti)',
      schedulerName,
    )
    .addOption(
      new Option(
        '--scheduler-namespace <name>',
        "Namespace of the scheduler's release. (default: all namespaces, or tutti-system if you may not list ConfigMaps everywhere)",
      ).argParser(namespaceName),
    );
}

export function withPrintFlags(command: Command): Command {
  return command
    .addOption(new Option('-o, --output <format>', 'Format of the output.').choices(outputFormats).default('table'))
    .option('--no-headers', 'Print no column headers.')
    .addOption(colorOption());
}

/** When to use colors. */
export function colorOption(): Option {
  return new Option('--color <when>', 'Use colors; auto means in a terminal, unless NO_COLOR is set.')
    .choices(colorModes)
    .default('auto');
}

/** For commands that answer with one object. */
export function textJsonOrYamlOption(): Option {
  return new Option('-o, --output <format>', 'Format of the output.').choices(['text', 'json', 'yaml']).default('text');
}

/** For commands whose output is not a list. */
export function textOrJsonOption(): Option {
  return new Option('-o, --output <format>', 'Format of the output.').choices(['text', 'json']).default('text');
}

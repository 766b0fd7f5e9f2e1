import { runtimeAnnotation } from '../../src/api/declared-runtime.ts';
import { explainApiVersion } from '../../src/api/explain/basis.ts';
import { keysOfOtherSchedulers, podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { planAnnotations } from '../../src/api/pod.ts';
import { predictedStartCondition } from '../../src/api/predicted-start.ts';
import { simulatedProvisioner } from '../../src/plane/nodes/simulated-volumes.ts';
import { simulationAnnotations } from '../../src/plane/nodes/simulation-annotations.ts';
import { code, madeFrom, table } from './markdown.ts';
import { sourceTexts } from './source-texts.ts';

const planMeanings: Readonly<Record<keyof typeof planAnnotations, string>> = {
  groupUid: 'UID of the PodGroup whose plan bound the pod',
  plan: 'ID of the plan. All members that one plan bound have the same ID',
  quorum: '`minMember` when Tutti sent the first binding of the plan',
};

const simulationMeanings: Readonly<Record<keyof typeof simulationAnnotations, string>> = {
  runDuration: 'How long the pod runs before it ends: a duration, or `never`',
  exitCode: 'Exit code of its containers: 0 (the default) to 255',
  startLatency: 'How long the pod stays in ContainerCreating: a duration',
  termination: 'How long the pod takes to end after its deletion, at most its grace period: a duration',
  rendezvous:
    'Number of members of its group that must run at the same time before its run time begins: a number, or `minMember`',
};

/** Returns the page in Markdown: every label and annotation that Tutti reads or writes. Throws if the sources contain a name that is missing here. */
export async function namesPage(): Promise<string> {
  const simulated = [...Object.values(simulationAnnotations), simulatedProvisioner];
  // The type of a condition is on the page of conditions; the apiVersion of what commands print is no label. Tutti reads the keys of other
  // schedulers only to warn.
  const elsewhere = [predictedStartCondition, explainApiVersion, ...keysOfOtherSchedulers];
  const own = [podGroupLabel, runtimeAnnotation, ...Object.values(planAnnotations)];
  const documented = [...own, ...simulated, ...elsewhere];
  const missing = (await keysInSources()).filter((key) => !documented.includes(key));
  if (missing.length > 0) throw new Error(`names-page.ts does not document ${missing.join(', ')}`);
  return [
    '# Labels and annotations',
    '',
    madeFrom('the names in the sources'),
    '',
    '## On pods, set by their owner',
    '',
    table(
      ['Name', 'Form', 'Value'],
      [
        [
          code(podGroupLabel),
          'Label. An annotation with the same name works as well; the label wins',
          "Name of the pod's PodGroup, which must be in the pod's namespace",
        ],
        [
          code(runtimeAnnotation),
          'Annotation',
          'How long the pod runs from its start: a duration such as `90m`, or whole seconds; at most 10 years',
        ],
      ],
    ),
    '',
    '## On pods, set by the scheduler',
    '',
    'The Binding of a group member sets these annotations in the same write. After a restart or a leader change, the scheduler reads the plan from them. No other component needs them.',
    '',
    table(['Name', 'Value'], rows(planAnnotations, planMeanings)),
    '',
    '## On pods, for simulated nodes',
    '',
    'The simulated nodes of `tutti up` read these annotations. They have no effect on a real cluster. A pod with an invalid value fails with the reason `InvalidSimulation`.',
    '',
    table(['Name', 'Value'], rows(simulationAnnotations, simulationMeanings)),
    '',
    '## On StorageClasses, for simulated volumes',
    '',
    table(
      ['Name', 'Field', 'Effect'],
      [[code(simulatedProvisioner), '`provisioner`', '`tutti up` provisions the volumes of the class']],
    ),
    '',
    'The [README of the chart](../../charts/tutti/README.md) lists the labels of its objects.',
    '',
  ].join('\n');
}

function rows<Name extends string>(
  names: Readonly<Record<Name, string>>,
  meanings: Readonly<Record<Name, string>>,
): string[][] {
  return (Object.keys(names) as Name[]).map((name) => [code(names[name]), meanings[name]]);
}

const ownKey = /'((?:\w+\.)?tutti\.dev\/[\w-]+|scheduling\.x-k8s\.io\/(?!v\d)[\w-]+)'/g;

async function keysInSources(): Promise<string[]> {
  const texts = await sourceTexts();
  return [...new Set(texts.flatMap((text) => [...text.matchAll(ownKey)].map(([, key]) => key!)))];
}

import { podGroupLabel } from '../../src/api/pod-group-membership.ts';
import { planAnnotations } from '../../src/api/pod.ts';
import { simulatedProvisioner } from '../../src/plane/nodes/simulated-volumes.ts';
import { simulationAnnotations } from '../../src/plane/nodes/simulation-annotations.ts';
import { code, madeFrom, table } from './markdown.ts';
import { sourceTexts } from './source-texts.ts';

const planMeanings: Readonly<Record<keyof typeof planAnnotations, string>> = {
  groupUid: 'uid of the PodGroup whose plan bound the pod',
  plan: 'which plan: the same on all members that one decision bound',
  quorum: '`minMember` when the plan was made',
};

const simulationMeanings: Readonly<Record<keyof typeof simulationAnnotations, string>> = {
  runDuration: 'how long the pod runs before it ends: a duration, or `never`',
  exitCode: 'what its containers exit with then: 0 (the default) to 255',
  startLatency: 'how long it stays in ContainerCreating: a duration',
  termination: 'how long it takes to end when it is deleted, at most its grace period: a duration',
  rendezvous: 'its run time begins when so many members of its group run at the same time: a number, or `minMember`',
};

/** Markdown, of every label and annotation that Tutti reads or writes. Throws when the sources name one that is not told here. */
export async function namesPage(): Promise<string> {
  const simulated = [...Object.values(simulationAnnotations), simulatedProvisioner];
  const told = [podGroupLabel, ...Object.values(planAnnotations), ...simulated];
  const untold = (await keysInSources()).filter((key) => !told.includes(key));
  if (untold.length > 0) throw new Error(`names-page.ts does not tell of ${untold.join(', ')}`);
  return [
    '# Labels and annotations',
    '',
    madeFrom('the names in the sources'),
    '',
    '## On pods, by their owner',
    '',
    table(
      ['name', 'as', 'value'],
      [
        [
          code(podGroupLabel),
          'label; an annotation of the same name does as well, and the label wins',
          'name of the PodGroup, in the pod’s namespace, that the pod is a member of',
        ],
      ],
    ),
    '',
    '## On pods, by the scheduler',
    '',
    'Annotations that a Binding of a member leaves on it, in the same write. After a restart, or when another process leads, they tell what had been planned; nobody else need read them.',
    '',
    table(['name', 'value'], rows(planAnnotations, planMeanings)),
    '',
    '## On pods, for simulated nodes',
    '',
    'Annotations that the nodes of `tutti up` obey; on a cluster nobody reads them. A value that cannot be read fails the pod, with the reason `InvalidSimulation`.',
    '',
    table(['name', 'value'], rows(simulationAnnotations, simulationMeanings)),
    '',
    '## On StorageClasses, for simulated volumes',
    '',
    table(
      ['name', 'as', 'value'],
      [[code(simulatedProvisioner), '`provisioner`', 'the plane of `tutti up` makes the volumes of such a class']],
    ),
    '',
    'Labels of the objects of the chart are in [its README](../../charts/tutti/README.md).',
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

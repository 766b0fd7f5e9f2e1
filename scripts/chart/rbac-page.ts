import { isMap, isSeq, parseAllDocuments } from 'yaml';
import { missingRights } from './missing-rights.ts';
import { renderChart } from './render.ts';

/** A rule of a role that the chart makes, and what it says it is for. */
export interface DocumentedRule {
  /** Without what the release puts before it: `scheduler`, `scheduler-lease`. */
  readonly role: string;
  readonly kind: 'ClusterRole' | 'Role';
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly names: readonly string[];
  readonly urls: readonly string[];
  readonly verbs: readonly string[];
  readonly neededBy: string;
}

/** Reads the rules of all roles in rendered manifests, with the comment above each. Throws for a rule without one. */
export function readRules(manifests: string): readonly DocumentedRule[] {
  return parseAllDocuments(manifests).flatMap((document) => {
    const kind = document.get('kind');
    const rules = document.get('rules');
    if ((kind !== 'ClusterRole' && kind !== 'Role') || !isSeq(rules)) return [];
    const role = String(document.getIn(['metadata', 'name']))
      .split(':')
      .at(-1)!;
    return rules.items.map((rule, index) => {
      if (!isMap(rule)) throw new Error(`a rule of ${role} is no map`);
      const comment = (index === 0 ? rules.commentBefore : undefined) ?? rule.commentBefore;
      if (!comment) throw new Error(`rule ${index} of ${role} does not say what needs it: write a comment above it`);
      const { apiGroups, resources, resourceNames, nonResourceURLs, verbs } = rule.toJSON() as Record<string, string[]>;
      return {
        role,
        kind,
        groups: apiGroups ?? [],
        resources: resources ?? [],
        names: resourceNames ?? [],
        urls: nonResourceURLs ?? [],
        verbs: verbs ?? [],
        neededBy: comment.replaceAll(/\s+/g, ' ').trim(),
      };
    });
  });
}

function code(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

function rows(rules: readonly DocumentedRule[]): string {
  return rules
    .map(({ verbs, groups, resources, names, urls, neededBy }) => {
      const named = names.length > 0 ? ` named ${code(names)}` : '';
      const what = urls.length > 0 ? code(urls) : `${code(resources)}${named}`;
      const group = urls.length > 0 ? 'paths' : groups.map((name) => (name === '' ? 'core' : name)).join(', ');
      return `| ${code(verbs)} | ${what} | ${group} | ${neededBy} |`;
    })
    .join('\n');
}

function table(rules: readonly DocumentedRule[]): string {
  return `| verbs | on | of | needed by |\n| --- | --- | --- | --- |\n${rows(rules)}\n`;
}

function missingTable(): string {
  const rows = Object.entries(missingRights).map(([right, { log, effect }]) => {
    const said = log === undefined ? 'nothing' : `\`${log}\``;
    return `| \`${right}\` | ${said} | ${effect} |`;
  });
  return `| right | the log says | then |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** docs/rbac.md */
export async function rbacPage(): Promise<string> {
  const defaults = readRules(await renderChart());
  const of = (role: string): readonly DocumentedRule[] => defaults.filter((rule) => rule.role === role);
  const added = async (values: object): Promise<readonly DocumentedRule[]> => {
    const rules = readRules(await renderChart({ values }));
    const known = new Set(defaults.map((rule) => JSON.stringify(rule)));
    return rules.filter((rule) => !known.has(JSON.stringify(rule)));
  };
  const preemption = await added({ rbac: { preemption: true } });
  const extender = await added({ config: { extenders: [{ urlPrefix: 'http://extender', bindVerb: 'bind' }] } });
  const stock = readRules(await renderChart({ values: { rbac: { stockRoles: true } } }));
  return `<!-- Made by scripts/generate-chart.ts from the rules in charts/tutti; do not edit. -->
# Rights

What the chart grants, rule by rule, and what needs it. No rule has a wildcard, and none is about Secrets. \`/version\` and \`/openapi\`, which every
authenticated user may read, are read as well. Names of roles begin with the
release's name and namespace, such as \`tutti:tutti-system:scheduler\`, so that releases do not share any.

## Scheduler
A ClusterRole for the ServiceAccount of the scheduler:

${table(of('scheduler'))}
The rules that name plugins are there unless every profile disables all of these by \`multiPoint\`; those for default constraints also not where
\`pluginConfig\` gives PodTopologySpread \`defaultingType: List\` without constraints. What no enabled plugin reads is not watched.

With extenders that bind (\`config.extenders[].bindVerb\`):

${table(extender)}
With \`rbac.preemption=true\`, for a plugin that preempts:

${table(preemption)}
A Role in the namespace of the Lease, unless \`scheduler.leaderElect\` is false:

${table(of('scheduler-lease'))}
## Scheduler, under the cluster's own roles
With \`rbac.stockRoles=true\` the ServiceAccount is bound to \`system:kube-scheduler\` and \`system:volume-scheduler\`, which every cluster has and keeps for its
own scheduler. They hold more than Tutti calls: deleting pods, replacing volumes, and writing to resource claims. The role of its own is then

${table(stock.filter(({ role }) => role === 'scheduler'))}
and the one for the Lease, as above.

## Controller
${table(of('controller'))}
A Role in the release's namespace, unless \`controller.leaderElect\` is false:

${table(of('controller-lease'))}
## When a right is missing
A test takes each right of the two ServiceAccounts away, one at a time, on a real API server: exactly that is rejected then, and shows as follows. With all of
them nothing is rejected, whatever Tutti does; so none is missing here, and none is needless.

${missingTable()}
## helm test
A Role in the release's namespace, there while the test runs, unless \`tests.enabled\` is false:

${table(of('test'))}
## In kube-system
Both ServiceAccounts are bound to the cluster's Role \`extension-apiserver-authentication-reader\`, which lets them read the ConfigMap with the authority for client
certificates. Where nobody may make bindings in \`kube-system\`, set \`rbac.authReader=false\` and have an administrator make them, or do without
client certificates: tokens are checked all the same.

## Users
Aggregated to the cluster's \`view\`, \`edit\` and \`admin\`, unless \`rbac.aggregate\` is false:

${table(of('view'))}
Aggregated to \`edit\` and \`admin\`:

${table(of('edit'))}
## Who may look into the processes
Health (\`/livez\`, \`/readyz\`, \`/healthz\`) is for everybody. For the rest there are two roles. \`metrics-reader\` is bound to the ServiceAccounts in \`metrics.readers\`:

${table(of('metrics-reader'))}
\`debug-reader\` is bound to nobody; bind it to whom you trust with the names of all pods and nodes:

${table(of('debug-reader'))}`;
}

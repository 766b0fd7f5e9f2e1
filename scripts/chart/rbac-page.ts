import { isMap, isSeq, parseAllDocuments } from 'yaml';
import { missingPermissionMessage, missingRights } from './missing-rights.ts';
import { renderChart } from './render.ts';

/** A rule of a role in the chart, with its purpose. */
export interface DocumentedRule {
  /** Name without the prefix of the release: `scheduler`, `scheduler-lease`. */
  readonly role: string;
  readonly kind: 'ClusterRole' | 'Role';
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly names: readonly string[];
  readonly urls: readonly string[];
  readonly verbs: readonly string[];
  readonly neededBy: string;
}

/** Reads the rules of all roles in rendered manifests, with the comment above each. Throws if a rule has no comment. */
export function readRules(manifests: string): readonly DocumentedRule[] {
  return parseAllDocuments(manifests).flatMap((document) => {
    const kind = document.get('kind');
    const rules = document.get('rules');
    if ((kind !== 'ClusterRole' && kind !== 'Role') || !isSeq(rules)) return [];
    const role = String(document.getIn(['metadata', 'name']))
      .split(':')
      .at(-1)!;
    return rules.items.map((rule, index) => {
      if (!isMap(rule)) throw new Error(`a rule of ${role} is not a map`);
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
  return `| Verbs | Resources | API group | Purpose |\n| --- | --- | --- | --- |\n${rows(rules)}\n`;
}

function missingTable(): string {
  const rows = Object.entries(missingRights).map(([right, { log, effect }]) => {
    const message = log === undefined ? 'none' : `\`${log}\``;
    return `| \`${right}\` | ${message} | ${effect} |`;
  });
  return `| Permission | Another log message | Effect |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** Returns docs/rbac.md. */
export async function rbacPage(): Promise<string> {
  const defaults = readRules(await renderChart());
  const of = (role: string): readonly DocumentedRule[] => defaults.filter((rule) => rule.role === role);
  const added = async (values: object): Promise<readonly DocumentedRule[]> => {
    const rules = readRules(await renderChart({ values }));
    const known = new Set(defaults.map((rule) => JSON.stringify(rule)));
    return rules.filter((rule) => !known.has(JSON.stringify(rule)));
  };
  const extender = await added({ config: { extenders: [{ urlPrefix: 'http://extender', bindVerb: 'bind' }] } });
  const reservations = await added({ reservations: { enabled: true } });
  const native = await added({ nativePodGroups: { writeStatus: true } });
  const stock = readRules(await renderChart({ values: { rbac: { stockRoles: true } } }));
  return `<!-- Made by scripts/generate-chart.ts from the rules in charts/tutti; do not edit. -->
# RBAC permissions

This page lists every rule of the chart's roles, and its purpose. No rule has a wildcard or covers Secrets. Tutti also reads \`/version\` and
\`/openapi\`, which all authenticated users can read. The names of cluster roles start with the name and namespace of the release, such as
\`tutti:tutti-system:scheduler\`, so that releases do not share roles.

## Scheduler
The ServiceAccount of the scheduler has this ClusterRole:

${table(of('scheduler'))}
The chart omits a rule for plugins if every profile disables all of these plugins at \`multiPoint\`. It also omits the rules for default
constraints if \`pluginConfig\` sets \`defaultingType: List\` without constraints for PodTopologySpread. The scheduler does not watch
resources that no enabled plugin reads.

Extenders that bind (\`config.extenders[].bindVerb\`) need this rule:

${table(extender)}
With \`reservations.enabled=true\`, or if a profile in \`config.profiles\` enables reservations, the scheduler needs this rule:

${table(reservations)}
With \`preemption.enabled=false\`, the chart omits the rule for victims and disables DefaultPreemption.

Unless \`scheduler.leaderElect\` is false, the scheduler has this Role in the namespace of the Lease:

${table(of('scheduler-lease'))}
## Scheduler, under the cluster's own roles
With \`rbac.stockRoles=true\`, the chart binds the ServiceAccount to \`system:kube-scheduler\` and \`system:volume-scheduler\`, which every cluster
has for its own scheduler. They grant more than Tutti needs: deleting pods, replacing volumes and writing resource claims. Tutti's own
ClusterRole then has only these rules, and the one for reservations if a profile enables them:

${table(stock.filter(({ role }) => role === 'scheduler'))}
The Role for the Lease stays the same.

## Controller
The ServiceAccount of the controller has this ClusterRole:

${table(of('controller'))}
With \`nativePodGroups.writeStatus=true\`, and by default if the API server serves these PodGroups, the controller has these rules too:

${table(native)}
Unless \`controller.leaderElect\` is false, the controller has this Role in the namespace of the release:

${table(of('controller-lease'))}
## Symptoms of a missing permission
A test removes each permission of the two ServiceAccounts, one at a time, on a real API server. The API server then rejects exactly the requests that need
the permission, with the symptoms below. With all permissions it rejects no request. So the list is complete, and no permission is superfluous.

For each missing permission, the process logs one error: \`${missingPermissionMessage}\`, with the fields
\`verb\`, \`resource\` and \`user\`. While permissions are missing, it lists them in one warning a minute: \`API server still rejects access\`. The two reviews
for the endpoints have only the message in the table.

${missingTable()}
## helm test
Unless \`tests.enabled\` is false, this Role exists in the namespace of the release while the test runs:

${table(of('test'))}
## In kube-system
The chart binds both ServiceAccounts to the cluster's Role \`extension-apiserver-authentication-reader\`, so that they can read the ConfigMap with the CA of client
certificates. If you cannot create RoleBindings in \`kube-system\`, set \`rbac.authReader=false\`, and ask an administrator to create them or do without
client certificates. Tokens work in any case.

## Users
Unless \`rbac.aggregate\` is false, the cluster's roles \`view\`, \`edit\` and \`admin\` aggregate these rules:

${table(of('view'))}
\`edit\` and \`admin\` also aggregate these rules:

${table(of('edit'))}
The chart does not bind \`explain\`. Bind it to users who may see all nodes and pods. With it, \`tutti why\`, \`plan\`, \`queue\` and \`drain-check\` plan with the
whole cluster instead of with what one namespace shows:

${table(of('explain'))}
## Access to the endpoints
All clients can read the health endpoints (\`/livez\`, \`/readyz\`, \`/healthz\`). Two roles grant access to the other endpoints. The chart binds \`metrics-reader\` to the
ServiceAccounts in \`metrics.readers\`:

${table(of('metrics-reader'))}
The chart does not bind \`debug-reader\`. Bind it to users who may see the names of all pods and nodes:

${table(of('debug-reader'))}`;
}

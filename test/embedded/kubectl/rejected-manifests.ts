import { podGroup, worker } from './manifests.ts';

/** Manifests that `kubectl apply` must reject, each with the expected message. */
export const rejectedManifests = [
  {
    what: 'a pod group with a minMember of 0',
    manifest: podGroup('bad', 0),
    message:
      'The PodGroup "bad" is invalid: spec.minMember: Invalid value: 0: spec.minMember in body should be greater than or equal to 1',
  },
  {
    what: 'a pod group with a negative minMember',
    manifest: podGroup('bad', -3),
    message: /^The PodGroup "bad" is invalid: spec\.minMember: Invalid value: -3: /,
  },
  {
    what: 'a pod group with a field that does not exist',
    manifest: { ...podGroup('bad', 1), spec: { minMembers: 3 } },
    message: /strict decoding error: unknown field "spec\.minMembers"$/,
  },
  {
    what: 'a pod with a field that does not exist',
    manifest: { ...worker('bad'), spec: { containres: [] } },
    message: /Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec\.containres"$/,
  },
  {
    what: 'an invalid quantity',
    manifest: {
      ...worker('bad'),
      spec: { containers: [{ name: 'a', image: 'b', resources: { requests: { cpu: '3x' } } }] },
    },
    message: /spec\.containers\[0\]\.resources\.requests\[cpu\].*"3x"/,
  },
  {
    what: 'an invalid name',
    manifest: worker('Bad_Name'),
    message:
      /^The Pod "Bad_Name" is invalid: metadata\.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain/,
  },
  {
    what: 'a pod of a namespace that does not exist',
    manifest: { ...worker('bad'), metadata: { name: 'bad', namespace: 'nowhere' } },
    message: /^Error from server \(NotFound\): .*namespaces "nowhere" not found$/,
  },
  {
    what: 'a pod of a priority class that does not exist',
    manifest: { ...worker('bad'), spec: { priorityClassName: 'none', containers: [{ name: 'a', image: 'b' }] } },
    message: /^Error from server \(Forbidden\): .*pods "bad" is forbidden: no PriorityClass with name none was found$/,
  },
  {
    what: 'a kind that is not served',
    manifest: { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'bad' } },
    message: /no matches for kind "CronJob" in version "batch\/v1"\nensure CRDs are installed first$/,
  },
];

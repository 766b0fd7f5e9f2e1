/** Returns which role lets a user list the collection at an API path: a clause for the end of an error message. */
export function grantingRole(path: string): string {
  return path.includes('/namespaces/')
    ? 'the role "view" in the namespace allows it'
    : 'the chart\'s ClusterRole "explain" allows it';
}

/** kube-scheduler's metric -> why Tutti has none of that name. */
export const leftOut: Readonly<Record<string, string>> = {
  scheduler_goroutines:
    'there are none: one thread decides, and what waits for the API server is in `rest_client_*` and `scheduler_cache_size{type="assumed_pods"}`',
  scheduler_preemption_goroutines_duration_seconds: 'victims are evicted without goroutines, see `rest_client_*`',
  scheduler_preemption_goroutines_execution_total: 'the same',
  scheduler_async_api_call_execution_total: 'every call is asynchronous: `rest_client_requests_total`',
  scheduler_async_api_call_execution_duration_seconds: 'the same: `rest_client_request_duration_seconds`',
  scheduler_pending_async_api_calls: 'the same',
  scheduler_batch_attempts_total:
    'answers about nodes are kept per signature and node, not handed from one pod to the next: there is no hint that is used or not; `scheduler_plugin_evaluation_total` shows what is saved',
  scheduler_batch_cache_flushed_total: 'the same: a row goes out of date by itself when its node changes',
  scheduler_get_node_hint_duration_seconds: 'the same',
  scheduler_store_schedule_results_duration_seconds: 'the same',
  scheduler_generated_placements_total: 'placement by topology is not there yet',
  scheduler_placement_evaluations_total: 'the same',
  scheduler_placement_evaluation_duration_seconds: 'the same',
  scheduler_dra_bindingconditions_allocations_total: 'resource claims (DRA) are not supported yet',
  scheduler_dra_bindingconditions_wait_duration_seconds: 'the same',
  scheduler_resourceclaim_creates_total: 'the same',
  scheduler_volume_scheduling_stage_error_total:
    'failures of VolumeBinding are among those of all plugins: `scheduler_plugin_execution_duration_seconds{plugin="VolumeBinding",status="Error"}`',
  scheduler_volume_binder_cache_requests_total: 'kube-scheduler keeps it for old dashboards; there is no such cache',
  rest_client_rate_limiter_duration_seconds: 'calls wait in lanes of different urgency, which one histogram would hide',
  kubernetes_feature_enabled: 'there are no feature gates',
  kube_pod_resource_request:
    '`/metrics/resources` has series for every pod of the cluster, and kube-scheduler, which runs in every cluster, has them already',
  kube_pod_resource_limit: 'the same',
  kubernetes_healthchecks_total:
    '`/metrics/slis` would repeat what probes and `up` tell; `/readyz?verbose` names the checks',
  kubernetes_healthcheck: 'the same',
};

/** What one would look for among groups -> why it is not there. */
export const notThereYet: Readonly<Record<string, string>> = {
  'groups given up (released)': 'bound members of a group that cannot be completed are not given up by this version',
  'capacity freed': 'nobody is told to go but by PostFilter plugins: `scheduler_preemption_victims`',
  'tutti_debug_*': 'endpoints for looking have no cost worth a series: they answer from the picture as it is',
};

/** Metric of kube-scheduler -> why Tutti does not have it. */
export const leftOut: Readonly<Record<string, string>> = {
  scheduler_goroutines:
    'Tutti has no goroutines: one thread schedules. `rest_client_*` and `scheduler_cache_size{type="assumed_pods"}` show what waits for the API server',
  scheduler_preemption_goroutines_duration_seconds: 'Tutti evicts victims without goroutines. See `rest_client_*`',
  scheduler_preemption_goroutines_execution_total: 'The same reason',
  scheduler_async_api_call_execution_total: 'Every call is asynchronous. See `rest_client_requests_total`',
  scheduler_async_api_call_execution_duration_seconds: 'The same reason. See `rest_client_request_duration_seconds`',
  scheduler_pending_async_api_calls: 'The same reason',
  scheduler_batch_attempts_total:
    'Tutti caches results per signature and node instead of passing a node hint from one pod to the next. `scheduler_plugin_evaluation_total` shows what the cache saves',
  scheduler_batch_cache_flushed_total: 'The same reason: a cached result becomes invalid when its node changes',
  scheduler_get_node_hint_duration_seconds: 'The same reason',
  scheduler_store_schedule_results_duration_seconds: 'The same reason',
  scheduler_generated_placements_total: 'Tutti does not support placement by topology yet',
  scheduler_placement_evaluations_total: 'The same reason',
  scheduler_placement_evaluation_duration_seconds: 'The same reason',
  scheduler_dra_bindingconditions_allocations_total: 'Tutti does not support resource claims (DRA) yet',
  scheduler_dra_bindingconditions_wait_duration_seconds: 'The same reason',
  scheduler_resourceclaim_creates_total: 'The same reason',
  scheduler_volume_scheduling_stage_error_total:
    'The metric for all plugins includes failures of VolumeBinding: `scheduler_plugin_execution_duration_seconds{plugin="VolumeBinding",status="Error"}`',
  scheduler_volume_binder_cache_requests_total:
    'Tutti has no such cache. kube-scheduler keeps the metric for old dashboards',
  rest_client_rate_limiter_duration_seconds: 'Calls wait in separate lanes by urgency, which one histogram would hide',
  kubernetes_feature_enabled: 'Tutti has no feature gates',
  kube_pod_resource_request:
    '`/metrics/resources` has series for every pod of the cluster. kube-scheduler, which runs in every cluster, already exports them',
  kube_pod_resource_limit: 'The same reason',
  kubernetes_healthchecks_total:
    '`/metrics/slis` would repeat what probes and `up` show. `/readyz?verbose` lists the checks',
  kubernetes_healthcheck: 'The same reason',
};

/** Figure that users may look for -> why no metric has it. */
export const notThereYet: Readonly<Record<string, string>> = {
  'Capacity that evictions free':
    '`scheduler_preemption_victims` counts evicted pods, and `tutti_podgroups_released_total` released groups',
  'Cost of the debug endpoints': 'It is small: they only read the cluster cache',
};

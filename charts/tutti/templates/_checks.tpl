{{/* Rejects combinations of values that are valid one by one but not together. Reports all problems at once. */}}
{{- define "tutti.checks" -}}
{{- $values := .Values -}}
{{- $names := include "tutti.schedulerNames" . | fromJsonArray -}}
{{- $problems := list -}}
{{- range $component := list "scheduler" "controller" -}}
{{- $its := index $values $component -}}
{{- if and (gt (int $its.replicaCount) 1) (not $its.leaderElect) -}}
{{- $problems = append $problems (printf "%s.replicaCount is %d with %s.leaderElect=false, so all replicas would be active: set %s.leaderElect=true or %s.replicaCount=1" $component (int $its.replicaCount) $component $component $component) -}}
{{- end -}}
{{- if and (not $its.serviceAccount.create) (not $its.serviceAccount.name) -}}
{{- $problems = append $problems (printf "%s.serviceAccount.create is false and %s.serviceAccount.name is empty: set it to the name of an existing ServiceAccount" $component $component) -}}
{{- end -}}
{{- end -}}
{{- if and (eq (include "tutti.serviceAccountName" (dict "root" . "component" "scheduler")) (include "tutti.serviceAccountName" (dict "root" . "component" "controller"))) $values.controller.enabled -}}
{{- $problems = append $problems "scheduler.serviceAccount.name and controller.serviceAccount.name are the same: the components have different permissions, so use two ServiceAccounts" -}}
{{- end -}}
{{- if has $values.podSchedulerName $names -}}
{{- $problems = append $problems (printf "podSchedulerName is %q, which is one of this release's scheduler names (%s), so Tutti's pods would wait for themselves: set it to another scheduler, such as default-scheduler" $values.podSchedulerName (join ", " $names)) -}}
{{- end -}}
{{- range $name := $names | uniq -}}
{{- $count := 0 -}}
{{- range $names }}{{ if eq . $name }}{{ $count = add1 $count }}{{ end }}{{ end -}}
{{- if gt (int $count) 1 -}}
{{- $problems = append $problems (printf "config.profiles has %d profiles with the schedulerName %q: each needs its own" (int $count) $name) -}}
{{- end -}}
{{- end -}}
{{- if $values.config.profiles -}}
{{- range $what, $given := dict "scheduler.name" $values.scheduler.name "plugins.enabled" $values.plugins.enabled "plugins.disabled" $values.plugins.disabled "pluginConfig" $values.pluginConfig "reservations.enabled" $values.reservations.enabled -}}
{{- if $given -}}
{{- $problems = append $problems (printf "%s and config.profiles are both set: move the value into a profile" $what) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (not $values.preemption.enabled) (include "tutti.runs" (dict "root" . "plugin" "DefaultPreemption")) -}}
{{- $problems = append $problems "preemption.enabled is false, but a profile runs DefaultPreemption: disable the plugin there (plugins.multiPoint.disabled)" -}}
{{- end -}}
{{- with $values.reservations -}}
{{- if and .enabled (lt (int64 .drainAfterSeconds) (int64 .reserveAfterSeconds)) -}}
{{- $problems = append $problems (printf "reservations.drainAfterSeconds is %d, but must be at least reservations.reserveAfterSeconds (%d)" (int64 .drainAfterSeconds) (int64 .reserveAfterSeconds)) -}}
{{- end -}}
{{- end -}}
{{- $election := $values.config.leaderElection | default dict -}}
{{- if and (hasKey $election "leaderElect") (ne (toString $election.leaderElect) (toString $values.scheduler.leaderElect)) -}}
{{- $problems = append $problems (printf "config.leaderElection.leaderElect is %v and scheduler.leaderElect is %v, but they mean the same: set only scheduler.leaderElect" $election.leaderElect $values.scheduler.leaderElect) -}}
{{- end -}}
{{- range $index, $extender := $values.config.extenders -}}
{{- if $extender.preemptVerb -}}
{{- $problems = append $problems (printf "config.extenders[%d].preemptVerb is not supported: remove it; Tutti does not call extenders for preemption" $index) -}}
{{- end -}}
{{- end -}}
{{- if and $values.metrics.serviceMonitor.enabled $values.metrics.podMonitor.enabled -}}
{{- $problems = append $problems "metrics.serviceMonitor.enabled and metrics.podMonitor.enabled are both true, so Prometheus would scrape every process twice: choose one" -}}
{{- end -}}
{{- if and $values.metrics.serviceMonitor.enabled (not $values.service.enabled) -}}
{{- $problems = append $problems "metrics.serviceMonitor.enabled needs service.enabled=true" -}}
{{- end -}}
{{- if and $values.metrics.podMonitor.enabled (not $values.metrics.podMonitor.credentials.name) -}}
{{- $problems = append $problems "metrics.podMonitor.enabled needs metrics.podMonitor.credentials.name: set it to a Secret with a token that may read /metrics, or use metrics.serviceMonitor, which uses Prometheus' own token" -}}
{{- end -}}
{{- $alerts := list -}}
{{- range (.Files.Get "files/alerts.yaml" | fromYaml).groups -}}
{{- range .rules }}{{ $alerts = append $alerts .alert }}{{ end -}}
{{- end -}}
{{- range concat $values.metrics.prometheusRule.disabled (keys $values.metrics.prometheusRule.overrides | sortAlpha) -}}
{{- if not (has . $alerts) -}}
{{- $problems = append $problems (printf "metrics.prometheusRule names the alert %q, which does not exist: the alerts are %s" . (join ", " $alerts)) -}}
{{- end -}}
{{- end -}}
{{- if and $values.crds.install (not $values.crds.takeOwnership) -}}
{{- with lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "podgroups.scheduling.x-k8s.io" -}}
{{- $annotations := .metadata.annotations | default dict -}}
{{- $owner := printf "%s/%s" (index $annotations "meta.helm.sh/release-namespace" | default "") (index $annotations "meta.helm.sh/release-name" | default "") -}}
{{- if ne $owner (printf "%s/%s" $.Release.Namespace $.Release.Name) -}}
{{- $problems = append $problems (printf "CustomResourceDefinition podgroups.scheduling.x-k8s.io already exists and is %s. To leave it to its owner, use --set crds.install=false, and make sure that it has Tutti's status fields (docs/tasks/administrators/crd-from-another-project.md). To take it over, use --set crds.takeOwnership=true --take-ownership" (eq $owner "/" | ternary "not managed by Helm" (printf "managed by the release %s" $owner))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $problems -}}
{{- fail (printf "\n\n  - %s\n" (join "\n  - " $problems)) -}}
{{- end -}}
{{- end -}}

{{/*
"true" if the chart renders an object of the Prometheus operator; otherwise empty. Takes dict root, kind, value (with enabled and
renderMode), path of the value.
*/}}
{{- define "tutti.operatorKind" -}}
{{- if .value.enabled -}}
{{- $known := .root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" .kind) -}}
{{- if and (not $known) (eq .value.renderMode "failIfMissing") -}}
{{- fail (printf "\n\n  - %s.enabled is true, but the cluster does not have the kind %s of monitoring.coreos.com/v1: install the Prometheus operator, or set %s.renderMode=skipIfMissing\n" .path .kind .path) -}}
{{- end -}}
{{- if or $known (eq .value.renderMode "alwaysRender") -}}true{{- end -}}
{{- end -}}
{{- end -}}

package main

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	resourceslicetracker "k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// oracle runs plugins. It creates expensive objects that do not depend on a question only once.
type oracle struct {
	registry frameworkruntime.Registry
	// client is never used for requests: informers are filled directly and never started.
	client clientset.Interface
	// dra has no devices.
	dra fwk.SharedDRAManager
}

func newOracle(ctx context.Context) (*oracle, error) {
	metrics.Register()
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	claims := assumecache.NewAssumeCache(klog.FromContext(ctx), factory.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	slices, err := resourceslicetracker.StartTracker(ctx, resourceslicetracker.Options{
		SliceInformer: factory.Resource().V1().ResourceSlices(),
		KubeClient:    client,
	})
	if err != nil {
		return nil, err
	}
	return &oracle{
		registry: plugins.NewInTreeRegistry(),
		client:   client,
		dra:      dynamicresources.NewDRAManager(ctx, claims, slices, factory),
	}, nil
}

func (o *oracle) answer(ctx context.Context, q *question) (*answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	snapshot, err := snapshotOf(ctx, q)
	if err != nil {
		return nil, err
	}
	plugin, err := o.plugin(ctx, q, snapshot)
	if err != nil {
		return nil, err
	}
	ans := &answer{}
	if point, ok := plugin.(fwk.PreEnqueuePlugin); ok {
		ans.PreEnqueue = statusOf(point.PreEnqueue(ctx, q.Pod))
	}
	if sorting, ok := plugin.(fwk.QueueSortPlugin); ok && q.Rival != nil {
		order, err := orderOf(sorting, q.Pod, q.Rival)
		if err != nil {
			return nil, err
		}
		ans.Order = &order
	}
	all, err := snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	left, err := judge(ctx, plugin, state, q, snapshot, all, ans)
	if err != nil || len(left) == 0 || len(q.Added)+len(q.Removed) > 0 {
		return ans, err
	}
	score(ctx, plugin, state, q.Pod, left, ans)
	return ans, nil
}

// snapshotOf returns a snapshot of the scheduler's own cache, as in each scheduling cycle.
func snapshotOf(ctx context.Context, q *question) (*schedulercache.Snapshot, error) {
	cache := schedulercache.New(ctx, nil,
		utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload),
		utilfeature.DefaultFeatureGate.Enabled(features.CompositePodGroup))
	logger := klog.FromContext(ctx)
	for _, node := range q.Nodes {
		cache.AddNode(logger, node)
	}
	for _, pod := range q.Pods {
		if err := cache.AddPod(logger, pod); err != nil {
			return nil, err
		}
	}
	snapshot := schedulercache.NewEmptySnapshot()
	return snapshot, cache.UpdateSnapshot(logger, snapshot)
}

// plugin creates the plugin of the question, with defaulted and validated arguments, over the question's objects.
func (o *oracle) plugin(ctx context.Context, q *question, snapshot *schedulercache.Snapshot) (fwk.Plugin, error) {
	factory := informers.NewSharedInformerFactory(o.client, 0)
	for _, raw := range q.Objects {
		object, kind, err := clientscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, err
		}
		resource, _ := meta.UnsafeGuessKindToResource(*kind)
		informer, err := factory.ForResource(resource)
		if err != nil {
			return nil, err
		}
		if err := informer.Informer().GetIndexer().Add(object); err != nil {
			return nil, err
		}
	}
	handle, err := frameworkruntime.NewFramework(ctx, o.registry, nil,
		frameworkruntime.WithClientSet(o.client),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithSharedDRAManager(o.dra),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		// In a small cluster one goroutine per node costs more than it gains.
		frameworkruntime.WithParallelism(1),
	)
	if err != nil {
		return nil, err
	}
	args, err := argsOf(q)
	if err != nil {
		return nil, err
	}
	factoryOf, ok := o.registry[q.Plugin]
	if !ok {
		return nil, fmt.Errorf("kube-scheduler has no plugin %s", q.Plugin)
	}
	return factoryOf(ctx, args, handle)
}

// argsOf returns nil for plugins without arguments.
func argsOf(q *question) (runtime.Object, error) {
	kind := configv1.SchemeGroupVersion.WithKind(q.Plugin + "Args")
	if !configscheme.Scheme.Recognizes(kind) {
		return nil, nil
	}
	fields := map[string]json.RawMessage{}
	if len(q.Args) > 0 {
		if err := json.Unmarshal(q.Args, &fields); err != nil {
			return nil, err
		}
	}
	fields["apiVersion"] = json.RawMessage(fmt.Sprintf("%q", kind.GroupVersion()))
	fields["kind"] = json.RawMessage(fmt.Sprintf("%q", kind.Kind))
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	args, _, err := configscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	return args, err
}

func orderOf(plugin fwk.QueueSortPlugin, pod, rival *v1.Pod) (int, error) {
	first, err := queued(pod)
	if err != nil {
		return 0, err
	}
	second, err := queued(rival)
	if err != nil {
		return 0, err
	}
	switch {
	case plugin.Less(first, second):
		return -1, nil
	case plugin.Less(second, first):
		return 1, nil
	default:
		return 0, nil
	}
}

// queued returns the queue entry of a pod that has been queued since its creation.
func queued(pod *v1.Pod) (fwk.QueuedEntityInfo, error) {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, err
	}
	return &framework.QueuedPodInfo{
		PodInfo:        info,
		QueueingParams: framework.QueueingParams{Timestamp: pod.CreationTimestamp.Time},
	}, nil
}

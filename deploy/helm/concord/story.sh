# What `helm test` does, in the space "demo": two memories, of which one replaced the other, found now and as of
# then; a proposal that is taken back; and nothing left of them in any store.
run=$(date +%s)
concord --space demo status
concord --space demo add "The depot of run $run is in Kiel." --id "test-$run-1" --valid-from 2015-01-01
concord --space demo add "The depot of run $run is in Jena now." --id "test-$run-2" --valid-from 2020-07-01 \
  --supersedes "test-$run-1"
concord --space demo search "where is the depot of run $run?" | grep "Jena"
concord --space demo search "where is the depot of run $run?" --as-of 2018-01-01 | grep "Kiel"
concord --space demo propose set "test-$run" VALUES honesty | tee /tmp/proposed
concord --space demo withdraw "$(sed -n 's/^Proposal \([0-9]*\):.*/\1/p' /tmp/proposed)"
concord --space demo erase "test-$run-2" --yes
concord --space demo erase "test-$run-1" --yes
echo "The story holds."

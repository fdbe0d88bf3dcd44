# Every target is ./run, which works without make too. ARGS are passed on: make test ARGS="-k store"
.PHONY: run test check docs package fix setup lock
.NOTPARALLEL:

run:
	@./run run quickstart $(ARGS)

test check docs package fix setup lock:
	@./run $@ $(ARGS)

# A client's Makefile: one program of $(SOURCES), with what the library's fragment says.
include $(GASNET_PREFIX)/include/smp-conduit/smp-$(MODE).mak

C_COMMAND = $(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS)
CXX_COMMAND = $(GASNET_CXX) $(GASNET_CXXCPPFLAGS) $(GASNET_CXXFLAGS)
CXX_LIBS = -lstdc++
objects = $(addsuffix .o,$(basename $(notdir $(SOURCES))))

$(PROGRAM): $(objects)
	$(GASNET_LD) $(GASNET_LDFLAGS) -o $@ $(objects) $(GASNET_LIBS) $($(LANGUAGE)_LIBS)

%.o:
	$($(LANGUAGE)_COMMAND) $(FLAGS) -c $(filter %/$*.c %/$*.cc,$(SOURCES)) -o $@
